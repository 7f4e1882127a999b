#include "pipeline/load/shuffle_quality.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "pipeline/store/partition.h"
#include "tests/common/growth.h"

namespace winnow::pipeline::shuffle_quality_test {

std::vector<std::uint32_t> homes(std::uint64_t n, std::uint64_t lanes) {
  std::vector<std::uint32_t> found(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    found[i] = static_cast<std::uint32_t>(partition_of(i, static_cast<int>(lanes)));
  }
  return found;
}

// Classes in a row, as an ingest lists them. Every seventh place has a second label.
SampleLabels sorted_labels(std::uint64_t n, std::uint64_t classes) {
  SampleLabels labels{.offsets = {0}, .labels = {}};
  for (std::uint64_t i = 0; i < n; ++i) {
    labels.labels.push_back(static_cast<std::int32_t>(i * classes / n));
    if (i % 7 == 0) labels.labels.push_back(static_cast<std::int32_t>(i % 3));
    labels.offsets.push_back(static_cast<std::uint32_t>(labels.labels.size()));
  }
  return labels;
}

double entropy_of(const std::vector<std::int32_t>& labels) {
  double bits = 0;
  for (const std::int32_t a : labels) {
    double same = 0;
    for (const std::int32_t b : labels) same += a == b ? 1 : 0;
    bits -=
        std::log2(same / static_cast<double>(labels.size())) / static_cast<double>(labels.size());
  }
  return bits;
}

// The definition of each figure, over all samples and all pairs of successive epochs.
ShuffleQuality by_brute_force(const PartialShuffle& shuffle, const SampleLabels& labels) {
  const std::uint64_t n = shuffle.size();
  const Lanes& lanes = shuffle.lanes();
  const auto group_of = [&](std::uint64_t position) {  // the lane of a batch
    return std::pair(position / lanes.batch, lanes.lane_of(position));
  };
  const auto order = shuffle.stream(0, 2 * n);
  const auto global = stream(n, shuffle.seed(), 0, n);
  std::vector<std::uint64_t> then(n);
  for (std::uint64_t i = n; i < 2 * n; ++i) then[order[i].index] = i;
  ShuffleQuality quality;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::int32_t>> seen;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::int32_t>> seen_by_global;
  double pairs = 0;
  double again = 0;
  double by_chance = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t a = order[i].index;
    quality.away += shuffle.home(a) != lanes.lane_of(i) ? 1.0 / static_cast<double>(n) : 0;
    quality.displacement += std::abs(static_cast<double>(then[a] - n) - static_cast<double>(i)) /
                            static_cast<double>(n * n);
    for (const std::int32_t label : labels[a]) seen[group_of(i)].push_back(label);
    for (const std::int32_t label : labels[global[i].index]) {
      seen_by_global[group_of(i)].push_back(label);
    }
    for (std::uint64_t j = 0; j < i; ++j) {
      by_chance += group_of(n + i) == group_of(n + j) ? 1 : 0;
      if (group_of(i) != group_of(j)) continue;
      ++pairs;
      again += group_of(then[a]) == group_of(then[order[j].index]) ? 1 : 0;
    }
  }
  const double all_pairs = static_cast<double>(n) * static_cast<double>(n - 1) / 2;
  quality.meetings = again / pairs / (by_chance / all_pairs);
  double bits = 0;
  double bits_by_global = 0;
  for (const auto& [group, found] : seen) bits += entropy_of(found);
  for (const auto& [group, found] : seen_by_global) bits_by_global += entropy_of(found);
  quality.class_entropy = bits / bits_by_global;
  return quality;
}

TEST(ShuffleQuality, IsWhatAllSamplesAndPairsCounted) {
  const ShuffleStudy all{.epochs = 1, .samples = 1 << 20, .meetings = 0};
  for (const std::uint64_t n : {40, 333, 1200}) {
    for (const Lanes lanes : {Lanes{48, 4}, Lanes{50, 3}, Lanes{30, 1}}) {
      for (const double fraction : {0.0, 0.1, 0.5, 1.0}) {
        const PartialShuffle shuffle(homes(n, lanes.count), lanes, fraction, 3);
        const SampleLabels labels = sorted_labels(n, 10);
        const ShuffleQuality want = by_brute_force(shuffle, labels);
        const ShuffleQuality got = measure_shuffle(shuffle, labels, all);
        EXPECT_NEAR(got.away, want.away, 1e-9);
        EXPECT_NEAR(got.displacement, want.displacement, 1e-9);
        ASSERT_TRUE(got.meetings && got.class_entropy);
        EXPECT_NEAR(*got.meetings, *want.meetings, 1e-9);
        EXPECT_NEAR(*got.class_entropy, *want.class_entropy, 1e-9);
        EXPECT_EQ(got.window, 1U);
      }
    }
  }
}

// Theory for many samples, compared with a measurement on a small part of them.
TEST(ShuffleQuality, OfManySamplesIsAsExpected) {
  const std::uint64_t n = 1'000'000;
  const double lanes = 8;
  const SampleLabels labels = sorted_labels(n, 100);
  for (const double fraction : {0.0, 0.1, 0.5, 1.0}) {
    const PartialShuffle shuffle(homes(n, 8), {256, 8}, fraction, 1);
    const ShuffleQuality quality = measure_shuffle(shuffle, labels);
    // Slightly more or fewer places are at home in a lane than it has rows; even with fraction 0
    // that many must move.
    EXPECT_NEAR(quality.away, fraction * (1 - 1 / lanes), 0.01);
    EXPECT_NEAR(quality.displacement, 1.0 / 3, 0.01);
    // In an epoch, a sample is in its own lane or in any of the others.
    const double own = 1 - fraction + fraction / lanes;
    const double other = fraction / lanes;
    // The probability that two samples share a lane, with the same home or with two.
    const double same_home = own * own + (lanes - 1) * other * other;
    const double two_homes = 2 * own * other + (lanes - 2) * other * other;
    // Among samples that share a lane, the share with the same home: both at home or both away.
    const double share = own * own + (1 - own) * (1 - own) / (lanes - 1);
    const double want = lanes * (share * same_home + (1 - share) * two_homes);
    ASSERT_TRUE(quality.meetings);
    EXPECT_NEAR(*quality.meetings, want, 0.08 * want) << fraction;
    EXPECT_GT(quality.window, 1U);  // in a single batch too few pairs meet
    EXPECT_NEAR(quality.class_entropy.value_or(0), 1, 0.005);
  }
}

// Homes in the order of ingest, which hashes of ids avoid: a lane then has few classes.
TEST(ShuffleQuality, TellsLanesThatHaveFewClasses) {
  const std::uint64_t n = 8000;
  std::vector<std::uint32_t> in_order(n);
  for (std::uint64_t i = 0; i < n; ++i) in_order[i] = static_cast<std::uint32_t>(i * 8 / n);
  const SampleLabels labels = sorted_labels(n, 80);
  const auto entropy_with = [&](double fraction) {
    return *measure_shuffle({in_order, {256, 8}, fraction, 1}, labels).class_entropy;
  };
  EXPECT_LT(entropy_with(0), 0.8);
  EXPECT_LT(entropy_with(0.1), 0.9);
  EXPECT_LT(entropy_with(0), entropy_with(0.1));
  EXPECT_LT(entropy_with(0.1), entropy_with(0.5));
  EXPECT_EQ(entropy_with(1), 1);
  EXPECT_GT(*measure_shuffle({homes(n, 8), {256, 8}, 0, 1}, labels).class_entropy, 0.98);
}

TEST(ShuffleQuality, SaysNothingOfWhatThereIsNot) {
  const PartialShuffle rows_of_one(homes(100, 8), {8, 8}, 0.1, 1);
  EXPECT_FALSE(measure_shuffle(rows_of_one).meetings);
  const PartialShuffle shuffle(homes(100, 4), {24, 4}, 0.1, 1);
  EXPECT_TRUE(measure_shuffle(shuffle).meetings);
  EXPECT_FALSE(measure_shuffle(shuffle).class_entropy);
  const SampleLabels none{.offsets = std::vector<std::uint32_t>(101, 0), .labels = {}};
  EXPECT_FALSE(measure_shuffle(shuffle, none).class_entropy);
  const SampleLabels alike{.offsets = sorted_labels(1000, 1).offsets,
                           .labels = std::vector<std::int32_t>(2000, 4)};
  EXPECT_FALSE(measure_shuffle(shuffle, alike).class_entropy);
  const PartialShuffle single({0}, {24, 4}, 0.1, 1);
  EXPECT_EQ(measure_shuffle(single).displacement, 0);
  EXPECT_FALSE(measure_shuffle(single).meetings);
}

TEST(ShuffleQuality, TakesNoLongerForManySamples) {
  const auto shuffle_of = [](std::uint64_t n) {
    return PartialShuffle(homes(n, 8), {256, 8}, 0.1, 1);
  };
  const PartialShuffle few = shuffle_of(1'250'000);
  const PartialShuffle many = shuffle_of(10'000'000);
  EXPECT_NEAR(measure_shuffle(many).away, 0.0875, 0.01);
  const double once = test::processor_seconds_of([&] { measure_shuffle(few); });
  // For 8 times as many
  EXPECT_LT(test::processor_seconds_of([&] { measure_shuffle(many); }) / once, 4);
}

TEST(ShuffleQuality, IsASentence) {
  const PartialShuffle shuffle(homes(1000, 4), {24, 4}, 0.1, 1);
  const ShuffleQuality quality{.away = 0.0781,
                               .displacement = 0.3341,
                               .meetings = 2.951,
                               .window = 3,
                               .class_entropy = 0.9987};
  EXPECT_EQ(in_words(shuffle, quality),
            "10.0 % of each of 4 partitions is exchanged an epoch: 7.8 % of the samples are used "
            "outside their lane (75.0 % by a global shuffle), two that share a lane of a batch do "
            "so again 2.95 times as often as by a global shuffle, the classes in one have 0.999 "
            "times the entropy, and samples move by 0.334 of an epoch (0.333)");
  ShuffleQuality less = quality;
  less.meetings.reset();
  less.class_entropy.reset();
  EXPECT_EQ(in_words(shuffle, less),
            "10.0 % of each of 4 partitions is exchanged an epoch: 7.8 % of the samples are used "
            "outside their lane (75.0 % by a global shuffle), and samples move by 0.334 of an "
            "epoch (0.333)");
}

}  // namespace winnow::pipeline::shuffle_quality_test

#include "pipeline/load/partial_shuffle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/rng.h"
#include "pipeline/load/sampler.h"
#include "pipeline/store/partition.h"

namespace winnow::pipeline::partial_shuffle_test {

using testing::ElementsAre;

// The largest fraction that is not a global shuffle. Everything is still exchanged.
const double kJustBelowOne = std::nextafter(1.0, 0.0);

std::vector<std::uint32_t> homes(std::uint64_t n, std::uint64_t lanes) {
  std::vector<std::uint32_t> found(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    found[i] = static_cast<std::uint32_t>(partition_of(i, static_cast<int>(lanes)));
  }
  return found;
}

std::vector<std::uint64_t> all_of(const PartialShuffle& shuffle, std::uint32_t number) {
  const PartialShuffle::Epoch epoch(shuffle, number);
  std::vector<std::uint64_t> places(shuffle.size());
  for (std::uint64_t i = 0; i < places.size(); ++i) places[i] = epoch[i];
  return places;
}

bool is_permutation_of_range(std::vector<std::uint64_t> values) {
  std::ranges::sort(values);
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    if (values[i] != i) return false;
  }
  return true;
}

double chi_square(const std::vector<double>& found, const std::vector<double>& expected) {
  double sum = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    sum += (found[i] - expected[i]) * (found[i] - expected[i]) / expected[i];
  }
  return sum;
}

// Five standard deviations above the expectation for this number of degrees of freedom. All inputs
// are fixed.
double bound(double freedom) { return freedom + 5 * std::sqrt(2 * freedom); }

TEST(Lanes, AreRunsOfTheRowsOfABatch) {
  for (const Lanes lanes : {Lanes{1, 1}, Lanes{7, 1}, Lanes{7, 3}, Lanes{8, 8}, Lanes{48, 5}}) {
    std::vector<std::uint64_t> seen(lanes.count, 0);
    std::vector<std::uint64_t> rows(lanes.count, 0);
    for (std::uint64_t position = 0; position < 3 * lanes.batch + 5; ++position) {
      const std::uint64_t row = position % lanes.batch;
      const std::uint64_t lane = lanes.lane_of(position);
      ASSERT_EQ(lane, row * lanes.count / lanes.batch);
      ASSERT_GE(row, lanes.first_row(lane));
      ASSERT_LT(row, lanes.first_row(lane + 1));
      for (std::uint64_t g = 0; g < lanes.count; ++g) {
        ASSERT_EQ(lanes.before(g, position), seen[g]);
      }
      ASSERT_EQ(lanes.position_of(lane, seen[lane]), position);
      ++seen[lane];
      if (position < lanes.batch) ++rows[lane];
    }
    const auto [least, most] = std::ranges::minmax(rows);
    EXPECT_LE(most - least, 1U);
  }
}

struct Setting {
  std::uint64_t n;
  Lanes lanes;
  double fraction;
};

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const std::uint64_t n : {1, 3, 47, 48, 200}) {
    for (const Lanes lanes :
         {Lanes{1, 1}, Lanes{5, 1}, Lanes{5, 5}, Lanes{48, 7}, Lanes{300, 64}}) {
      for (const double fraction : {0.0, 0.01, 0.25, kJustBelowOne, 1.0}) {
        all.push_back({n, lanes, fraction});
      }
    }
  }
  return all;
}

// Includes empty partitions, and one partition that has everything.
TEST(PartialShuffle, EveryEpochHasEachPlaceOnceWhereOffsetOfSays) {
  for (const auto& [n, lanes, fraction] : settings()) {
    const std::uint32_t last = static_cast<std::uint32_t>(lanes.count - 1);
    for (const auto& at : {homes(n, lanes.count), std::vector<std::uint32_t>(n, last)}) {
      const PartialShuffle shuffle(at, lanes, fraction, 3);
      for (const std::uint32_t number : {0U, 9U}) {
        const auto places = all_of(shuffle, number);
        ASSERT_TRUE(is_permutation_of_range(places))
            << n << " " << lanes.batch << " " << lanes.count << " " << fraction;
        const PartialShuffle::Epoch epoch(shuffle, number);
        for (std::uint64_t i = 0; i < n; ++i) ASSERT_EQ(epoch.offset_of(places[i]), i);
      }
    }
  }
}

TEST(PartialShuffle, AStreamIsItsEpochsFromAnywhere) {
  for (const auto& [n, lanes, fraction] : settings()) {
    if (n > 49 || fraction == 0.01) continue;
    const PartialShuffle shuffle(homes(n, lanes.count), lanes, fraction, 8);
    const auto whole = shuffle.stream(0, 4 * n);
    ASSERT_EQ(whole.size(), 4 * n);
    for (std::uint32_t number = 0; number < 4; ++number) {
      const auto places = all_of(shuffle, number);
      for (std::uint64_t i = 0; i < n; ++i) {
        ASSERT_EQ(whole[number * n + i].epoch, number);
        ASSERT_EQ(whole[number * n + i].index, places[i]);
      }
    }
    for (std::uint64_t begin = 0; begin < 3 * n; begin += 1 + n / 2) {
      const auto some = shuffle.stream(begin, n);
      for (std::uint64_t i = 0; i < n; ++i) {
        ASSERT_EQ(some[i].index, whole[begin + i].index);
        ASSERT_EQ(some[i].epoch, whole[begin + i].epoch);
      }
    }
  }
}

// How many places of each home are in each lane during an epoch: [home][lane].
std::vector<std::vector<double>> moves(const PartialShuffle& shuffle, std::uint32_t number) {
  const Lanes& lanes = shuffle.lanes();
  std::vector<std::vector<double>> table(lanes.count, std::vector<double>(lanes.count, 0));
  const auto places = all_of(shuffle, number);
  for (std::uint64_t i = 0; i < places.size(); ++i) {
    ++table[shuffle.home(places[i])][lanes.lane_of(number * places.size() + i)];
  }
  return table;
}

TEST(PartialShuffle, ALaneKeepsItsShareOfItsHome) {
  for (const auto& [n, lanes, fraction] : settings()) {
    if (fraction == 1) continue;
    const PartialShuffle shuffle(homes(n, lanes.count), lanes, fraction, 8);
    for (const std::uint32_t number : {0U, 3U}) {
      const PartialShuffle::Epoch epoch(shuffle, number);
      const auto table = moves(shuffle, number);
      for (std::uint64_t g = 0; g < lanes.count; ++g) {
        double at_home = 0;
        double rows = 0;
        for (std::uint64_t h = 0; h < lanes.count; ++h) {
          at_home += table[g][h];
          rows += table[h][g];
        }
        const double kept = std::min(at_home - std::ceil(fraction * at_home), rows);
        EXPECT_EQ(static_cast<double>(epoch.kept(g)), kept);
        EXPECT_GE(table[g][g], kept);  // some of the exchanged ones come back
        // Without an exchange, only those leave for which there is no room.
        if (fraction == 0) {
          EXPECT_EQ(table[g][g], std::min(at_home, rows));
        }
      }
    }
  }
}

TEST(PartialShuffle, WhatIsExchangedGoesAnywhereAlike) {
  const Lanes lanes{96, 6};
  const std::uint64_t n = 9601;
  for (const double fraction : {0.25, kJustBelowOne}) {
    const PartialShuffle shuffle(homes(n, lanes.count), lanes, fraction, 12);
    std::vector<double> found;
    std::vector<double> expected;
    std::vector<double> of_home(lanes.count, 0);
    std::vector<double> of_lane(lanes.count, 0);
    std::vector<std::vector<double>> sum(lanes.count, std::vector<double>(lanes.count, 0));
    constexpr std::uint32_t kEpochs = 20;
    for (std::uint32_t number = 0; number < kEpochs; ++number) {
      const PartialShuffle::Epoch epoch(shuffle, number);
      const auto table = moves(shuffle, number);
      for (std::uint64_t h = 0; h < lanes.count; ++h) {
        for (std::uint64_t g = 0; g < lanes.count; ++g) {
          const double exchanged =
              table[h][g] - (h == g ? static_cast<double>(epoch.kept(g)) : 0.0);
          sum[h][g] += exchanged;
          of_home[h] += exchanged;
          of_lane[g] += exchanged;
        }
      }
    }
    double all = 0;
    for (const double count : of_home) all += count;
    EXPECT_NEAR(all / kEpochs, fraction * static_cast<double>(n), 6);
    for (std::uint64_t h = 0; h < lanes.count; ++h) {
      for (std::uint64_t g = 0; g < lanes.count; ++g) {
        found.push_back(sum[h][g]);
        expected.push_back(of_home[h] * of_lane[g] / all);
      }
    }
    EXPECT_LT(chi_square(found, expected), bound(25)) << fraction;
  }
}

// With a fraction just below 1, the lane of a place says nothing about its lane in the next epoch.
TEST(PartialShuffle, ExchangingAllForgetsTheLaneBefore) {
  const Lanes lanes{40, 5};
  const std::uint64_t n = 20'000;
  const PartialShuffle shuffle(homes(n, lanes.count), lanes, kJustBelowOne, 4);
  const auto lanes_in = [&](std::uint32_t number) {
    std::vector<std::uint64_t> lane(n);
    const auto places = all_of(shuffle, number);
    for (std::uint64_t i = 0; i < n; ++i) lane[places[i]] = lanes.lane_of(number * n + i);
    return lane;
  };
  std::vector<double> found(25, 0);
  const auto before = lanes_in(6);
  const auto now = lanes_in(7);
  for (std::uint64_t place = 0; place < n; ++place) ++found[before[place] * 5 + now[place]];
  EXPECT_LT(chi_square(found, std::vector<double>(25, n / 25.0)), bound(16));
}

// Each epoch exchanges other places, and all places of a home equally often.
TEST(PartialShuffle, TakesTurnsInWhatItExchanges) {
  const Lanes lanes{20, 2};
  const std::uint64_t n = 100;
  std::vector<std::uint32_t> halves(n);
  for (std::uint64_t i = 0; i < n; ++i) halves[i] = i % 2;
  const PartialShuffle shuffle(halves, lanes, 0.2, 5);
  std::vector<double> moved(n, 0);
  constexpr std::uint32_t kEpochs = 1500;
  for (std::uint32_t number = 0; number < kEpochs; ++number) {
    const auto places = all_of(shuffle, number);
    for (std::uint64_t i = 0; i < n; ++i) {
      moved[places[i]] += lanes.lane_of(number * n + i) != places[i] % 2 ? 1 : 0;
    }
  }
  double all = 0;
  for (const double count : moved) all += count;
  EXPECT_NEAR(all / kEpochs, 0.2 * n / 2, 0.5);  // half of the ten in a home come back
  // The places of an epoch are drawn without replacement, which only reduces the variance.
  EXPECT_LT(chi_square(moved, std::vector<double>(n, all / n)), bound(n - 1));
}

TEST(PartialShuffle, OrdersALaneAnewEachEpoch) {
  const Lanes lanes{32, 4};
  const std::uint64_t n = 6400;
  const PartialShuffle shuffle(homes(n, lanes.count), lanes, 0, 4);
  // The position of a place in its lane, in tenths, in one epoch and the next.
  std::vector<double> found(100, 0);
  double expected = 0;
  const PartialShuffle::Epoch next(shuffle, 1);
  const auto places = all_of(shuffle, 0);
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t then = next.offset_of(places[i]);
    ++found[i * 10 / n * 10 + then * 10 / n];
    ++expected;
  }
  EXPECT_LT(chi_square(found, std::vector<double>(100, expected / 100)), bound(81));
}

TEST(PartialShuffle, OfAllIsAGlobalShuffleAsItWas) {
  const PartialShuffle shuffle(homes(500, 4), {16, 4}, 1, 77);
  const auto whole = shuffle.stream(130, 1500);
  const auto plain = stream(500, 77, 130, 1500);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    ASSERT_EQ(whole[i].epoch, plain[i].epoch);
    ASSERT_EQ(whole[i].index, plain[i].index);
  }
}

TEST(PartialShuffle, DependsOnSeedAndEpoch) {
  const auto at = homes(1000, 8);
  const PartialShuffle shuffle(at, {64, 8}, 0.25, 7);
  const auto base = all_of(shuffle, 2);
  EXPECT_EQ(all_of(PartialShuffle(at, {64, 8}, 0.25, 7), 2), base);
  for (const auto& other : {all_of(shuffle, 3), all_of(PartialShuffle(at, {64, 8}, 0.25, 8), 2)}) {
    int same = 0;
    for (std::size_t i = 0; i < base.size(); ++i) same += base[i] == other[i] ? 1 : 0;
    EXPECT_LT(same, 30);  // eight are expected for two orders of a lane
  }
}

// The order of a seed is part of every recorded run. The values come from a second implementation
// in Python, which deals out lists and uses no closed form.
TEST(PartialShuffle, KeepsItsValues) {
  std::vector<std::uint32_t> of_few;  // the last lane is nobody's home
  for (std::uint32_t i = 0; i < 20; ++i) of_few.push_back(i * i % 3);
  const PartialShuffle few(of_few, {8, 3}, 0.25, 1);
  EXPECT_THAT(all_of(few, 0),
              ElementsAre(6, 19, 15, 7, 14, 10, 1, 12, 17, 0, 9, 4, 11, 2, 13, 16, 5, 3, 18, 8));
  EXPECT_THAT(all_of(few, 1),
              ElementsAre(10, 2, 1, 16, 15, 14, 12, 11, 4, 5, 18, 3, 6, 0, 9, 17, 8, 7, 19, 13));
  std::vector<std::uint32_t> of_many;
  for (std::uint32_t i = 0; i < 1000; ++i) of_many.push_back(i * 7919 % 16);
  const PartialShuffle many(of_many, {100, 16}, 0.1, 1234567890123);
  const PartialShuffle::Epoch epoch(many, 90);
  EXPECT_THAT((std::vector{epoch[0], epoch[1], epoch[2], epoch[3], epoch[4], epoch[5]}),
              ElementsAre(744, 320, 608, 96, 528, 849));
  EXPECT_THAT((std::vector{epoch[997], epoch[998], epoch[999]}), ElementsAre(945, 225, 113));
}

TEST(PartialShuffle, WorksOnManySamples) {
  const std::uint64_t n = 3'000'000;
  const PartialShuffle shuffle(homes(n, 16), {1024, 16}, 0.1, 1);
  const PartialShuffle::Epoch epoch(shuffle, 4'000'000'000);
  for (std::uint64_t i = 0; i < n; i += 9973) ASSERT_EQ(epoch.offset_of(epoch[i]), i);
}

TEST(PartialShuffle, RefusesWhatMakesNoSense) {
  const auto make = [](double fraction, Lanes lanes, std::uint64_t n = 10) {
    return PartialShuffle(std::vector<std::uint32_t>(n, 0), lanes, fraction, 1);
  };
  EXPECT_NO_THROW(make(0.5, {8, 8}));
  EXPECT_THROW(make(-0.1, {8, 4}), UsageError);
  EXPECT_THROW(make(1.1, {8, 4}), UsageError);
  EXPECT_THROW(make(std::numeric_limits<double>::quiet_NaN(), {8, 4}), UsageError);
  EXPECT_THROW(make(0.5, {8, 9}), UsageError);
  EXPECT_THROW(make(0.5, {8, 0}), UsageError);
  EXPECT_THROW(make(0.5, {8, 4}, 0), UsageError);
}

SampleSet plain_set(std::uint64_t n) {
  SampleSet set;
  for (std::uint64_t i = 0; i < n; ++i) {
    set.ids.push_back(5 + 3 * i);
    set.weights.push_back(1 + static_cast<float>(i));
  }
  return set;
}

SamplingOptions with(double fraction, int partitions, std::uint64_t batch) {
  return {.shuffle = {fraction, partitions, batch}};
}

TEST(Sampler, FollowsAPartialShuffle) {
  const SampleSet set = plain_set(100);
  const Sampler sampler(set, 6, with(0.25, 4, 24));
  ASSERT_NE(sampler.partial_shuffle(), nullptr);
  EXPECT_TRUE(sampler.epochs_are_alike());
  const PartialShuffle shuffle(homes_of(set, 4), {24, 4}, 0.25, 6);
  const auto order = shuffle.stream(70, 300);
  const auto requests = sampler.requests(70, 300);
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(requests[i].id, set.ids[order[i].index]);
    EXPECT_EQ(requests[i].epoch, order[i].epoch);
    EXPECT_EQ(requests[i].weight, set.weights[order[i].index]);
  }
  for (std::size_t i = 0; i < set.size(); ++i) {
    EXPECT_EQ(shuffle.home(i), static_cast<std::uint64_t>(partition_of(set.ids[i], 4)));
  }
}

TEST(Sampler, OfAFractionOfOneIsTheGlobalShuffle) {
  const SampleSet set = plain_set(100);
  const Sampler one(set, 6, with(1, 4, 24));
  const Sampler plain(set, 6);
  EXPECT_EQ(one.partial_shuffle(), nullptr);
  for (std::uint64_t i = 0; i < 250; ++i) {
    ASSERT_EQ(one.requests(i, 1)[0].id, plain.requests(i, 1)[0].id);
  }
}

TEST(Sampler, PlacesWhoseSamplesTakeTurnsHaveTheHomeOfTheFirst) {
  const std::vector<SampleId> stands_for{1, 2, 1, 4, 1};
  const SampleSet set = take_turns({1, 2, 3, 4, 5}, std::vector<float>(5, 1), stands_for);
  EXPECT_THAT(homes_of(set, 1000),
              ElementsAre(partition_of(1, 1000), partition_of(2, 1000), partition_of(4, 1000)));
  const Sampler sampler(set, 1, with(0.3, 2, 4));
  EXPECT_EQ(sampler.epoch_size(), 3U);
  std::map<SampleId, int> counts;
  for (const Request& r : sampler.requests(0, 3 * 12)) ++counts[r.id];
  EXPECT_THAT(counts, ElementsAre(std::pair(1U, 4), std::pair(2U, 12), std::pair(3U, 4),
                                  std::pair(4U, 12), std::pair(5U, 4)));
}

TEST(Sampler, RefusesAPartialShuffleOfOtherSamplings) {
  const SampleSet set = plain_set(10);
  const SampleLabels labels{.offsets = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
                            .labels = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1}};
  for (const Sampling sampling :
       {Sampling::kBalanced, Sampling::kRepeatFactor, Sampling::kWeighted}) {
    EXPECT_NO_THROW(Sampler(set, 1, {sampling, 0.5, {1, 2, 4}}, labels));
    EXPECT_THROW(Sampler(set, 1, {sampling, 0.5, {0.5, 2, 4}}, labels), UsageError);
  }
  EXPECT_THROW(Sampler(set, 1, with(0.5, 5, 4)), UsageError);
  EXPECT_THROW(Sampler(set, 1, with(0.5, 0, 4)), UsageError);
  EXPECT_THROW(Sampler(set, 1, with(0.5, -1, 4)), UsageError);
  EXPECT_THROW(Sampler(set, 1, with(2, 2, 4)), UsageError);
  EXPECT_THROW(Sampler(set, 1, with(std::numeric_limits<double>::quiet_NaN(), 2, 4)), UsageError);
}

}  // namespace winnow::pipeline::partial_shuffle_test

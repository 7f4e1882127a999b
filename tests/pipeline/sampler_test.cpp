#include "pipeline/load/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>
#include <set>
#include <tuple>

#include "common/error.h"
#include "common/rng.h"
#include "pipeline/load/order.h"

namespace winnow::pipeline::sampler_test {

using testing::ElementsAre;

constexpr Sampling kAll[] = {Sampling::kUniform, Sampling::kBalanced, Sampling::kRepeatFactor,
                             Sampling::kWeighted};

struct Labelled {
  SampleSet samples;
  SampleLabels labels{.offsets = {0}, .labels = {}};

  void add(std::int32_t label, float weight = 1) {
    samples.ids.push_back(7 + 3 * samples.ids.size());
    samples.weights.push_back(weight);
    labels.labels.push_back(label);
    labels.offsets.push_back(static_cast<std::uint32_t>(labels.labels.size()));
  }
};

// Classes of these sizes, with their samples mixed and of uneven weights.
Labelled classes_of(const std::vector<std::size_t>& sizes) {
  Labelled set;
  std::vector<std::size_t> left = sizes;
  CounterRng rng(1, 0, 0, RandomUse::kTest);
  for (bool any = true; any;) {
    any = false;
    for (std::size_t c = 0; c < left.size(); ++c) {
      if (left[c] == 0) continue;
      --left[c];
      set.add(static_cast<std::int32_t>(10 * c), 0.1F + static_cast<float>(rng.uniform()) * 2);
      any = true;
    }
  }
  return set;
}

const std::vector<std::vector<std::size_t>> kSizes{{1},         {1, 1},   {5, 1, 2},
                                                   {40, 3, 17}, {100, 7}, {70, 90, 1, 1, 1, 64, 2}};

Sampler make(const Labelled& set, Sampling sampling, std::uint64_t seed = 5,
             double threshold = 0.2) {
  return {set.samples, seed, {sampling, threshold}, set.labels};
}

std::map<SampleId, std::uint64_t> counts_of(const Sampler& sampler, std::uint32_t epoch) {
  std::map<SampleId, std::uint64_t> counts;
  for (const Request& r : sampler.requests(epoch * sampler.epoch_size(), sampler.epoch_size())) {
    ++counts[r.id];
  }
  return counts;
}

TEST(Sampler, ThePositionsDependOnNoBatch) {
  const auto key = [](const Request& r) { return std::tuple(r.id, r.epoch, r.weight); };
  for (const auto& sizes : kSizes) {
    const Labelled set = classes_of(sizes);
    for (const Sampling sampling : kAll) {
      const Sampler sampler = make(set, sampling);
      const std::vector<Request> whole = sampler.requests(0, 5 * sampler.epoch_size() + 3);
      for (const std::uint64_t batch : {1, 3, 8, 50}) {
        for (std::uint64_t begin = 0; begin + batch <= whole.size(); begin += batch) {
          const std::vector<Request> some = sampler.requests(begin, batch);
          for (std::uint64_t i = 0; i < batch; ++i) {
            ASSERT_EQ(key(some[i]), key(whole[begin + i]));
          }
        }
      }
    }
  }
}

// An epoch has each of its draws once, as a census expects.
TEST(Sampler, AnEpochIsItsDraws) {
  const auto key = [](const Request& r) { return std::tuple(r.id, r.epoch, r.weight); };
  for (const Sampling sampling : kAll) {
    const Sampler sampler = make(classes_of({40, 3, 17}), sampling);
    for (std::uint32_t epoch = 0; epoch < 6; ++epoch) {
      std::multiset<std::tuple<SampleId, std::uint32_t, float>> drawn;
      std::multiset<std::tuple<SampleId, std::uint32_t, float>> seen;
      for (std::uint64_t i = 0; i < sampler.epoch_size(); ++i) {
        drawn.insert(key(sampler.draw(epoch, i)));
      }
      for (const Request& r :
           sampler.requests(epoch * sampler.epoch_size(), sampler.epoch_size())) {
        seen.insert(key(r));
      }
      EXPECT_EQ(drawn, seen);
    }
  }
}

TEST(Sampler, NoTwoDrawsOfASampleAreAugmentedAlike) {
  for (const auto& sizes : kSizes) {
    for (const Sampling sampling : kAll) {
      const Sampler sampler = make(classes_of(sizes), sampling);
      std::set<std::pair<SampleId, std::uint32_t>> seen;
      for (const Request& r : sampler.requests(0, 20 * sampler.epoch_size())) {
        ASSERT_TRUE(seen.emplace(r.id, r.epoch).second) << sampling_name(sampling);
      }
    }
  }
}

TEST(Sampler, UniformIsEachOnceInTheOrderOfTheEpoch) {
  const Labelled set = classes_of({40, 3, 17});
  const Sampler sampler(set.samples, 9);
  EXPECT_TRUE(sampler.epochs_are_alike());
  const std::vector<Request> requests = sampler.requests(30, 100);
  const std::vector<StreamSample> order = stream(60, 9, 30, 100);
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(requests[i].id, set.samples.ids[order[i].index]);
    EXPECT_EQ(requests[i].epoch, order[i].epoch);
    EXPECT_EQ(requests[i].weight, set.samples.weights[order[i].index]);
  }
}

TEST(Sampler, BalancedGivesEachClassAsManyAndUsesItUpBeforeItBeginsAgain) {
  for (const auto& sizes : kSizes) {
    const Labelled set = classes_of(sizes);
    const Sampler sampler = make(set, Sampling::kBalanced);
    ASSERT_EQ(sampler.epoch_size(), set.samples.size());
    std::map<SampleId, std::int32_t> label_of;
    std::map<std::int32_t, std::uint64_t> of_class;         // over all epochs so far
    std::map<std::int32_t, std::map<SampleId, int>> often;  // the same for each sample
    for (std::size_t i = 0; i < set.samples.size(); ++i) {
      label_of[set.samples.ids[i]] = set.labels.labels[i];
      often[set.labels.labels[i]][set.samples.ids[i]] = 0;
    }
    const auto spread = [](const auto& counts) {
      const auto [low, high] = std::ranges::minmax(counts | std::views::values);
      return high - low;
    };
    for (std::uint32_t epoch = 0; epoch < 40; ++epoch) {
      std::map<std::int32_t, std::uint64_t> in_epoch;
      for (const auto& [label, samples] : often) in_epoch[label] = 0;
      for (const auto& [id, count] : counts_of(sampler, epoch)) {
        in_epoch[label_of.at(id)] += count;
        of_class[label_of.at(id)] += count;
        often[label_of.at(id)][id] += static_cast<int>(count);
      }
      EXPECT_LE(spread(in_epoch), 1U);
      EXPECT_LE(spread(of_class), 1U);
      for (const auto& [label, samples] : often) EXPECT_LE(spread(samples), 1) << label;
    }
  }
}

TEST(Sampler, BalancedNumbersHowOftenASampleCameBefore) {
  const Sampler sampler = make(classes_of({40, 3, 17}), Sampling::kBalanced);
  std::map<SampleId, std::set<std::uint32_t>> passes;
  for (const Request& r : sampler.requests(0, 30 * sampler.epoch_size())) {
    passes[r.id].insert(r.epoch);
  }
  EXPECT_EQ(passes.size(), 60U);
  for (const auto& [id, seen] : passes) EXPECT_EQ(*seen.rbegin() + 1, seen.size()) << id;
}

TEST(Sampler, WeightedGivesEachWhatIsDueRoundedUpOrDown) {
  for (const auto& sizes : kSizes) {
    const Labelled set = classes_of(sizes);
    for (const std::uint64_t seed : {1, 2, 3}) {
      const Sampler sampler = make(set, Sampling::kWeighted, seed);
      double sum = 0;
      for (const float weight : set.samples.weights) sum += weight;
      EXPECT_EQ(static_cast<double>(sampler.epoch_size()), std::max(1.0, std::round(sum)));
      std::map<SampleId, std::uint64_t> total;
      constexpr std::uint32_t kEpochs = 200;
      for (std::uint32_t epoch = 0; epoch < kEpochs; ++epoch) {
        auto counts = counts_of(sampler, epoch);
        for (std::size_t i = 0; i < set.samples.size(); ++i) {
          const double due =
              set.samples.weights[i] * static_cast<double>(sampler.epoch_size()) / sum;
          const auto count = static_cast<double>(counts[set.samples.ids[i]]);
          EXPECT_GE(count, std::floor(due - 1e-6));
          EXPECT_LE(count, std::ceil(due + 1e-6));
          total[set.samples.ids[i]] += counts[set.samples.ids[i]];
        }
      }
      for (std::size_t i = 0; i < set.samples.size(); ++i) {
        const double due =
            kEpochs * set.samples.weights[i] * static_cast<double>(sampler.epoch_size()) / sum;
        // Random draws would be off by 7 on average, and by 25 now and then.
        EXPECT_NEAR(static_cast<double>(total[set.samples.ids[i]]), due, 4);
      }
      for (const Request& r : sampler.requests(0, 10)) EXPECT_EQ(r.weight, 1);
    }
  }
}

TEST(Sampler, EqualWeightsGiveEachOnce) {
  Labelled set;
  for (int i = 0; i < 100; ++i) set.add(0);
  const Sampler sampler = make(set, Sampling::kWeighted);
  EXPECT_EQ(sampler.epoch_size(), 100U);
  for (std::uint32_t epoch = 0; epoch < 10; ++epoch) {
    EXPECT_EQ(counts_of(sampler, epoch).size(), 100U);
  }
}

TEST(Sampler, CopiesThatShareAWeightComeAboutOnceAnEpochTogether) {
  Labelled set;
  for (int i = 0; i < 50; ++i) set.add(0);
  for (int i = 0; i < 30; ++i) set.add(0, 1.0F / 3);
  const Sampler sampler = make(set, Sampling::kWeighted);
  EXPECT_EQ(sampler.epoch_size(), 60U);
  for (std::uint32_t epoch = 0; epoch < 30; ++epoch) {
    auto counts = counts_of(sampler, epoch);
    std::uint64_t copies = 0;
    for (std::size_t i = 50; i < 80; ++i) copies += counts[set.samples.ids[i]];
    EXPECT_NEAR(static_cast<double>(copies), 10, 7);  // no share moves by more than rounding
  }
}

TEST(Sampler, RepeatFactorsAreThoseOfLvis) {
  // Shares 16/20, 3/20 and 1/20, with a threshold of 0.2.
  const Labelled set = classes_of({16, 3, 1});
  const std::vector<double> factors = repeat_factors(set.samples, set.labels, 0.2);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const double want = set.labels.labels[i] == 0    ? 1
                        : set.labels.labels[i] == 10 ? std::sqrt(0.2 / 0.15)
                                                     : 2;
    EXPECT_DOUBLE_EQ(factors[i], want);
  }
  const Sampler sampler = make(set, Sampling::kRepeatFactor);
  EXPECT_EQ(sampler.epoch_size(), 22U);  // 16 + 3.46 + 2, rounded up
  for (std::uint32_t epoch = 0; epoch < 30; ++epoch) {
    const auto counts = counts_of(sampler, epoch);
    EXPECT_EQ(counts.size(), 20U) << "one was left out";
    for (const auto& [id, count] : counts) EXPECT_LE(count, 3U);
  }
  // Among several labels the rarest counts.
  SampleLabels two = set.labels;
  two.labels.push_back(20);
  two.offsets.back() = static_cast<std::uint32_t>(two.labels.size());
  EXPECT_DOUBLE_EQ(repeat_factors(set.samples, two, 0.2).back(),
                   set.labels.labels.back() == 20 ? 2 : std::sqrt(0.2 / 0.1));
}

TEST(Sampler, ThoseThatTakeTurnsAreOnePlace) {
  const std::vector<SampleId> stands_for{1, 2, 1, 4, 1};
  const SampleSet samples = take_turns({1, 2, 3, 4, 5}, std::vector<float>(5, 1), stands_for);
  const SampleLabels labels{.offsets = {0, 1, 2, 3, 4, 5}, .labels = {0, 1, 0, 1, 0}};
  const Sampler sampler(samples, 3, {Sampling::kBalanced}, labels);
  EXPECT_EQ(sampler.epoch_size(), 3U);
  EXPECT_FALSE(sampler.epochs_are_alike());
  std::map<SampleId, int> counts;
  for (const Request& r : sampler.requests(0, 3 * 12)) ++counts[r.id];
  // 18 of each class: in the only place of class 0, three samples take turns.
  EXPECT_THAT(counts, ElementsAre(std::pair(1U, 6), std::pair(2U, 9), std::pair(3U, 6),
                                  std::pair(4U, 9), std::pair(5U, 6)));
}

TEST(Sampler, RefusesWhatHasNoClass) {
  Labelled set = classes_of({3, 2});
  set.labels.labels.push_back(1);
  ++set.labels.offsets.back();
  EXPECT_THROW(make(set, Sampling::kBalanced), UsageError);
  EXPECT_NO_THROW(make(set, Sampling::kRepeatFactor));
  set.labels.offsets.back() -= 2;
  EXPECT_THROW(make(set, Sampling::kBalanced), UsageError);
  // Samples without a label count once
  EXPECT_EQ(make(set, Sampling::kRepeatFactor).epoch_size(), 5U);
  EXPECT_NO_THROW(make(set, Sampling::kWeighted));
  EXPECT_THROW(make(classes_of({3}), Sampling::kRepeatFactor, 1, 0), UsageError);
  EXPECT_THROW(make(classes_of({3}), Sampling::kRepeatFactor, 1, 2), UsageError);
  EXPECT_THROW(Sampler({}, 1), UsageError);
  for (const Sampling sampling : kAll) {
    EXPECT_EQ(parse_sampling(sampling_name(sampling)), sampling);
  }
  EXPECT_THROW(parse_sampling("random"), UsageError);
}

TEST(Sampler, WhatASeedMeansStays) {
  const Labelled set = classes_of({70, 3, 2});
  const auto first = [&](Sampling sampling) {
    std::vector<SampleId> ids;
    for (const Request& r : make(set, sampling).requests(70, 10)) ids.push_back(r.id);
    return ids;
  };
  EXPECT_THAT(first(Sampling::kBalanced), ElementsAre(13, 19, 19, 118, 13, 13, 22, 10, 13, 148));
  EXPECT_THAT(first(Sampling::kRepeatFactor),
              ElementsAre(52, 229, 64, 103, 73, 199, 76, 10, 34, 220));
  EXPECT_THAT(first(Sampling::kWeighted), ElementsAre(70, 136, 73, 37, 151, 55, 196, 19, 211, 82));
}

}  // namespace winnow::pipeline::sampler_test

#include "dedup/decisions/combine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "common/error.h"

namespace winnow::dedup::combine_test {

using testing::ElementsAre;

// A selection of six samples. A removed sample is represented by the kept one before it.
Selection selection_of(const std::string& name, const std::vector<float>& weights) {
  const std::vector<SampleId> ids{10, 20, 30, 40, 50, 60};
  Selection selection = keep_all(ids);
  selection.name = name;
  selection.cache_digest = "cache";
  selection.settings = "{}";
  std::uint32_t groups = 0;
  for (std::size_t row = 0; row < ids.size(); ++row) {
    selection.weights[row] = weights[row];
    if (weights[row] > 0) {
      selection.components[row] = groups++;
      continue;
    }
    selection.components[row] = selection.components[row - 1];
    selection.kept[row] = selection.kept[row - 1];
    selection.distances[row] = 3;
    selection.rules[row] = Rule::kDuplicate;
  }
  return selection;
}

const Selection kA = selection_of("a", {1, 0, 1, 1, 0, 1});
const Selection kB = selection_of("b", {1, 1, 0, 1, 0, 1});

TEST(Combine, BothKeepsWhatBothKeep) {
  const Selection made = both(kA, kB);
  check_selection(made, "made");
  EXPECT_THAT(made.weights, ElementsAre(1, 0, 0, 1, 0, 1));
  // As in the first selection that left the sample out
  EXPECT_THAT(made.kept, ElementsAre(10, 10, 20, 40, 40, 60));
  EXPECT_EQ(made.rules[2], Rule::kDuplicate);
  EXPECT_THAT(made.components, ElementsAre(0, 0, 0, 1, 1, 2));  // components of both, merged
  EXPECT_EQ(made.name, "a");
  EXPECT_EQ(made.settings, "");
  EXPECT_EQ(made.mode, SelectionMode::kKeep);
}

TEST(Combine, EitherKeepsWhatOneKeeps) {
  const Selection made = either(kA, kB);
  check_selection(made, "made");
  EXPECT_THAT(made.weights, ElementsAre(1, 1, 1, 1, 0, 1));
  EXPECT_THAT(made.kept, ElementsAre(10, 20, 30, 40, 40, 60));
  EXPECT_EQ(made.rules[1], Rule::kKept);
  EXPECT_EQ(made.distances[1], 0);
}

TEST(Combine, WithoutLeavesOutWhatTheOtherKeeps) {
  const Selection made = without(kA, kB);
  check_selection(made, "made");
  EXPECT_THAT(made.weights, ElementsAre(0, 0, 1, 0, 0, 0));
  EXPECT_EQ(made.rules[0], Rule::kReview);
  EXPECT_EQ(made.rules[1], Rule::kDuplicate);  // unchanged
  EXPECT_THAT(without(kA, kA).weights, testing::Each(0));
}

TEST(Combine, WeightsAreMultipliedOrTheLarger) {
  const Selection a = with_weights(kA, std::vector<float>{0.5, 0, 2, 1, 0, 1});
  const Selection b = with_weights(kB, std::vector<float>{3, 4, 0, 1, 0, 1});
  EXPECT_EQ(a.mode, SelectionMode::kWeight);
  EXPECT_THAT(both(a, b).weights, ElementsAre(1.5, 0, 0, 1, 0, 1));
  EXPECT_EQ(both(a, b).mode, SelectionMode::kWeight);
  EXPECT_THAT(either(a, b).weights, ElementsAre(3, 4, 2, 1, 0, 1));
}

TEST(Combine, TurnsOfEitherAreThoseOfBoth) {
  Selection turns = keep_all(kA.ids);
  turns.cache_digest = kA.cache_digest;
  turns.mode = SelectionMode::kOnePerGroup;
  turns.kept = {10, 10, 30, 30, 50, 60};
  turns.components = {0, 0, 1, 1, 2, 3};
  const Selection made = both(kA, turns);
  EXPECT_EQ(made.mode, SelectionMode::kOnePerGroup);
  EXPECT_THAT(made.kept, ElementsAre(10, 10, 30, 30, 40, 60));
  EXPECT_EQ(both(turns, kA).mode, SelectionMode::kOnePerGroup);
}

TEST(Combine, SplitsAreThoseOfTheOneThatHasThem) {
  Selection moved = kB;
  moved.splits.assign(kB.size(), Split::kTrain);
  moved.splits[5] = Split::kVal;
  EXPECT_EQ(both(kA, moved).splits, moved.splits);
  EXPECT_EQ(both(moved, kA).splits, moved.splits);
  EXPECT_TRUE(both(kA, kB).splits.empty());

  Selection other = kA;
  other.splits.assign(kA.size(), Split::kTrain);
  EXPECT_THROW(both(other, moved), UsageError);  // both keep sample 60
  other.splits[5] = Split::kVal;
  other.splits[1] = Split::kTest;  // left out by `other`, kept by `moved`
  EXPECT_EQ(either(other, moved).splits[1], Split::kTrain);
}

TEST(Combine, WeightsOfAPerson) {
  const Selection made = with_weights(kA, std::vector<float>{0, 1, 1, 0, 0, -0.0F});
  check_selection(made, "made");
  EXPECT_THAT(made.rules, ElementsAre(Rule::kReview, Rule::kKept, Rule::kKept, Rule::kReview,
                                      Rule::kDuplicate, Rule::kReview));
  EXPECT_THAT(made.kept, ElementsAre(10, 20, 30, 40, 40, 60));
  EXPECT_EQ(made.mode, SelectionMode::kKeep);
  EXPECT_EQ(made.components, kA.components);
}

TEST(Combine, RefusesWhatMakesNoSense) {
  EXPECT_THROW(with_weights(kA, std::vector<float>(5, 1.0F)), UsageError);
  EXPECT_THROW(with_weights(kA, std::vector<float>(6, -1.0F)), UsageError);
  EXPECT_THROW(with_weights(kA, std::vector<float>(6, std::numeric_limits<float>::quiet_NaN())),
               UsageError);
  Selection other = kB;
  other.cache_digest = "another";
  EXPECT_THROW(both(kA, other), UsageError);
  other = kB;
  other.ids.back() = 70;
  EXPECT_THROW(either(kA, other), UsageError);
}

}  // namespace winnow::dedup::combine_test

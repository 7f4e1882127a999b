#include "app/review/verdicts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "common/rng.h"
#include "tests/dedup/judgements.h"

namespace winnow::app::verdicts_test {

using dedup::judgement;
using dedup::Verdict;
using Numbers = std::vector<std::uint64_t>;  // images, as in judgement()

Verdicts verdicts_of(const std::vector<Numbers>& groups) {
  dedup::Ragged<Hash128> ragged;
  for (const Numbers& group : groups) {
    std::vector<Hash128> hashes = dedup::hashes_of_numbers(group);
    std::ranges::sort(hashes);
    ragged.push_back(hashes);
  }
  return Verdicts(std::move(ragged));
}

TEST(Verdicts, CountsWhatIsLeft) {
  Verdicts verdicts = verdicts_of({{1, 2}, {3, 4, 5}, {6, 7}});
  EXPECT_EQ(verdicts.left(), 3U);
  EXPECT_EQ(verdicts.of(0), std::nullopt);
  verdicts.apply(judgement(Verdict::kDuplicate, {2, 1}));
  EXPECT_EQ(verdicts.of(0), Verdict::kDuplicate);
  EXPECT_EQ(verdicts.left(), 2U);
  verdicts.apply(judgement(Verdict::kDifferent, {1, 2}));
  EXPECT_EQ(verdicts.of(0), Verdict::kDifferent);
  EXPECT_EQ(verdicts.left(), 2U);
  verdicts.apply(judgement(Verdict::kNone, {1, 2}));
  EXPECT_EQ(verdicts.of(0), std::nullopt);
  EXPECT_EQ(verdicts.left(), 3U);
  verdicts.apply(judgement(Verdict::kNone, {6, 7}));
  verdicts.apply(judgement(Verdict::kDuplicate, {8, 9}));
  EXPECT_EQ(verdicts.left(), 3U);
}

TEST(Verdicts, OfPartsOfAGroupAndOfMoreThanIt) {
  Verdicts verdicts = verdicts_of({{1, 2, 3}, {3, 4}});
  verdicts.apply(judgement(Verdict::kDifferent, {1, 3}));
  EXPECT_EQ(verdicts.of(0), Verdict::kDifferent);
  EXPECT_EQ(verdicts.of(1), std::nullopt);
  verdicts.apply(judgement(Verdict::kKeep, {3}));
  EXPECT_EQ(verdicts.of(0), Verdict::kDifferent);
  EXPECT_EQ(verdicts.of(1), Verdict::kKeep);
  EXPECT_EQ(verdicts.left(), 0U);
  verdicts.apply(judgement(Verdict::kDuplicate, {1, 2, 3}));
  EXPECT_EQ(verdicts.of(0), Verdict::kDuplicate);
  EXPECT_EQ(verdicts.said(0).size(), 3U);
  verdicts.apply(judgement(Verdict::kUnsure, {3, 4, 9}));
  EXPECT_EQ(verdicts.of(1), Verdict::kUnsure);
  verdicts.apply(judgement(Verdict::kDifferent, {2, 4}));  // images of different groups
  EXPECT_EQ(verdicts.said(0).size(), 3U);
  EXPECT_EQ(verdicts.said(1).size(), 2U);
}

TEST(Verdicts, EqualFilesNeedNone) {
  Verdicts verdicts = verdicts_of({{1}, {2, 3}});
  EXPECT_EQ(verdicts.left(), 1U);
  EXPECT_EQ(verdicts.of(0), Verdict::kDuplicate);
  verdicts.apply(judgement(Verdict::kKeep, {1}));
  EXPECT_EQ(verdicts.left(), 1U);
  verdicts.apply(judgement(Verdict::kNone, {1}));
  EXPECT_EQ(verdicts.left(), 1U);
}

TEST(Verdicts, OfImagesByThemselves) {
  dedup::Ragged<Hash128> images;
  for (const std::uint64_t image : {1, 2}) images.push_back(dedup::hashes_of_numbers({image}));
  Verdicts verdicts(std::move(images), dedup::About::kImage);
  EXPECT_EQ(verdicts.left(), 2U);
  // Represents its group: not a duplicate judgement
  verdicts.apply(judgement(Verdict::kKeep, {1}));
  verdicts.apply(judgement(Verdict::kDuplicate, {1, 2}));
  EXPECT_EQ(verdicts.left(), 2U);
  verdicts.apply(dedup::image_judgement(Verdict::kDrop, 1));
  EXPECT_EQ(verdicts.of(0), Verdict::kDrop);
  EXPECT_EQ(verdicts.of(1), std::nullopt);
  EXPECT_EQ(verdicts.left(), 1U);
  ASSERT_EQ(verdicts.said(0).size(), 1U);
  EXPECT_EQ(verdicts.said(0)[0].about, dedup::About::kImage);
  verdicts.apply(judgement(Verdict::kNone, {1}));
  EXPECT_EQ(verdicts.of(0), Verdict::kDrop);
  verdicts.apply(dedup::image_judgement(Verdict::kNone, 1));
  EXPECT_EQ(verdicts.left(), 2U);
  Verdicts of_groups = verdicts_of({{1, 2}});
  of_groups.apply(dedup::image_judgement(Verdict::kDrop, 1));
  EXPECT_EQ(of_groups.left(), 1U);
}

// Compared with a list of all judgements.
TEST(Verdicts, AreWhatALinearScanSays) {
  CounterRng random(5, 0, 0, RandomUse::kTest);
  const auto draw = [&](std::size_t least) {
    std::set<std::uint64_t> numbers;
    while (numbers.size() < least || random.below(2) == 0) numbers.insert(random.below(12));
    return Numbers(numbers.begin(), numbers.end());
  };
  std::vector<Numbers> groups;
  for (int i = 0; i < 40; ++i) groups.push_back(draw(2));
  Verdicts verdicts = verdicts_of(groups);
  std::map<Numbers, Verdict> in_force;
  for (int step = 0; step < 2000; ++step) {
    const auto verdict = static_cast<Verdict>(random.below(5));
    Numbers about = verdict == Verdict::kKeep ? draw(1) : draw(2);
    if (verdict == Verdict::kKeep) about.resize(1);
    verdicts.apply(judgement(verdict, about));
    in_force[about] = verdict;
    std::uint64_t left = 0;
    for (std::uint32_t g = 0; g < groups.size(); ++g) {
      bool judged = false;
      for (const auto& [numbers, what] : in_force) {
        const bool is_about =
            std::ranges::includes(groups[g], numbers) || std::ranges::includes(numbers, groups[g]);
        judged = judged || (is_about && what != Verdict::kNone);
      }
      EXPECT_EQ(verdicts.of(g).has_value(), judged);
      left += judged ? 0 : 1;
    }
    ASSERT_EQ(verdicts.left(), left);
  }
}

}  // namespace winnow::app::verdicts_test

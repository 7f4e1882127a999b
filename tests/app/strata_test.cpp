#include "app/page/strata.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace winnow::app::strata_test {

using Sizes = std::vector<std::size_t>;

GroupFacts group(std::uint8_t reasons, std::uint32_t distance, std::int32_t label) {
  GroupFacts facts;
  facts.reasons = reasons;
  facts.distance = distance;
  facts.label = label;
  return facts;
}

TEST(ShareOut, GivesSmallKindsAllAndTheOthersAlike) {
  EXPECT_EQ(share_out(10, Sizes{2, 100, 100}), (Sizes{2, 4, 4}));
  EXPECT_EQ(share_out(11, Sizes{100, 1, 100}), (Sizes{5, 1, 5}));
  EXPECT_EQ(share_out(100, Sizes{3, 4}), (Sizes{3, 4}));
  EXPECT_EQ(share_out(0, Sizes{3, 4}), (Sizes{0, 0}));
  EXPECT_EQ(share_out(5, Sizes{}), Sizes{});
}

TEST(ShareOut, OfMoreKindsThanItHasGivesToTheLargest) {
  EXPECT_EQ(share_out(2, Sizes{5, 1, 9, 2}), (Sizes{1, 0, 1, 0}));
}

TEST(ShareOut, AddsUpAndGivesNoKindMoreThanThereAre) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    Sizes sizes(random() % 20);
    for (std::size_t& size : sizes) size = random() % 50;
    const std::size_t most = random() % 400;
    const Sizes shares = share_out(most, sizes);
    const std::size_t sum = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), std::size_t{0}), std::min(most, sum));
    for (std::size_t k = 0; k < sizes.size(); ++k) EXPECT_LE(shares[k], sizes[k]);
  }
}

TEST(FirstReason, IsTheMostUrgent) {
  EXPECT_EQ(first_reason(group(0b0001, 0, 0)), 0);
  EXPECT_EQ(first_reason(group(0b1010, 0, 0)), 1);
  EXPECT_EQ(first_reason(group(0b1000, 0, 0)), 3);
  EXPECT_EQ(first_reason(group(0, 0, 0)), kGroupReasonCount);
  GroupFacts picture = group(0, 0, 0);
  picture.is_picture = true;
  EXPECT_EQ(first_reason(picture), kGroupReasonCount + 1 + dedup::kShownIssueCount);
  picture.issues.add(dedup::Issue::kTiny);
  picture.issues.add(dedup::Issue::kBright);
  EXPECT_EQ(first_reason(picture), kGroupReasonCount + 2);
}

TEST(DrawGroups, TakesAllWhereTheyAreFew) {
  const std::vector<GroupFacts> facts(7);
  EXPECT_EQ(draw_groups(facts, 7), (Sizes{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(draw_groups({}, 7), Sizes{});
  EXPECT_EQ(draw_groups(facts, 0), Sizes{});
}

// 200,000 groups, of which a few are leaks and most are ordinary.
TEST(DrawGroups, ShowsEveryReasonDistanceAndClassThereIsRoomFor) {
  std::vector<GroupFacts> facts;
  for (std::uint32_t i = 0; i < 200'000; ++i) {
    const std::uint8_t reasons = i % 1000 == 0 ? 0b0001 : i % 500 == 7 ? 0b0100 : 0;
    facts.push_back(group(reasons, i % 9, static_cast<std::int32_t>(i / 9 % 100)));
  }
  const Sizes drawn = draw_groups(facts, 2000);
  ASSERT_EQ(drawn.size(), 2000U);
  EXPECT_TRUE(std::ranges::is_sorted(drawn));
  EXPECT_EQ(std::set(drawn.begin(), drawn.end()).size(), 2000U);
  std::size_t leaks = 0;
  std::size_t chains = 0;
  std::set<std::pair<std::uint32_t, std::int32_t>> plain;
  for (const std::size_t place : drawn) {
    leaks += facts[place].reasons == 0b0001 ? 1 : 0;
    chains += facts[place].reasons == 0b0100 ? 1 : 0;
    if (facts[place].reasons == 0) plain.insert({facts[place].distance, facts[place].label});
  }
  EXPECT_EQ(leaks, 200U);
  EXPECT_EQ(chains, 400U);
  EXPECT_EQ(plain.size(), 900U);  // each of 9 distances and 100 classes
}

TEST(DrawGroups, OfOneStratumSpreadsEvenly) {
  const std::vector<GroupFacts> facts(1000);
  EXPECT_EQ(draw_groups(facts, 4), (Sizes{0, 250, 500, 750}));
}

}  // namespace winnow::app::strata_test

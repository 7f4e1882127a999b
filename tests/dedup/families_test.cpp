#include "dedup/verify/families.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace winnow::dedup::families_test {

// Every picture from `from` on looks like every other.
std::vector<AlikePair> all_alike(std::uint32_t from, std::uint32_t count) {
  std::vector<AlikePair> pairs;
  for (std::uint32_t a = from; a < from + count; ++a) {
    for (std::uint32_t b = a + 1; b < from + count; ++b) pairs.push_back({a, b});
  }
  return pairs;
}

TEST(Families, NeedManyPicturesThatAreLikeBoth) {
  const auto count_of = [](std::uint32_t size) {
    const std::vector<char> of_family = are_of_families(all_alike(3, size));
    return std::ranges::count(of_family, 1);
  };
  EXPECT_EQ(count_of(kManyOfFamily + 1), 0);
  EXPECT_EQ(count_of(kManyOfFamily + 2), (kManyOfFamily + 2) * (kManyOfFamily + 1) / 2);
  EXPECT_TRUE(are_of_families({}).empty());
}

TEST(Families, CopiesCountOnce) {
  std::vector<AlikePair> pairs = all_alike(0, 60);
  // Ten pictures, six copies each
  for (AlikePair& pair : pairs) pair.is_shown = pair.row_a / 6 == pair.row_b / 6;
  EXPECT_EQ(std::ranges::count(are_of_families(pairs), 1), 0);
}

TEST(Families, CopiesStayInThem) {
  std::vector<AlikePair> pairs = all_alike(0, 60);
  for (AlikePair& pair : pairs)
    pair.is_shown = pair.row_b == pair.row_a + 30;  // thirty pictures, each twice
  const std::vector<char> of_family = are_of_families(pairs);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_EQ(of_family[i] == 0, pairs[i].is_shown) << pairs[i].row_a << " " << pairs[i].row_b;
  }
}

// One picture with many edits, each like that picture only: a star.
TEST(Families, AStarIsNone) {
  std::vector<AlikePair> pairs;
  for (std::uint32_t edit = 1; edit < 100; ++edit) pairs.push_back({0, edit});
  EXPECT_EQ(std::ranges::count(are_of_families(pairs), 1), 0);
}

TEST(LookAlikes, AreCountedByPictureAndWithoutOnesOwn) {
  // 0 and 1 are one picture, and so are 2 and 3; 4 and 5 are single.
  const std::vector<AlikePair> pairs{{0, 1, true},  {2, 3, true},  {0, 2, false},
                                     {0, 3, false}, {0, 4, false}, {4, 5, false}};
  const std::vector<char> refused{0, 0, 1, 1, 1, 0};
  EXPECT_EQ(count_look_alikes(pairs, refused), (std::vector<std::uint32_t>{2, 0, 1, 1, 1, 0}));
  const std::vector<AlikePair> own{{0, 1, true}, {1, 2, true}, {0, 2, false}};
  EXPECT_EQ(count_look_alikes(own, std::vector<char>{0, 0, 1}),
            (std::vector<std::uint32_t>{0, 0, 0}));
  EXPECT_TRUE(count_look_alikes({}, {}).empty());
}

TEST(LookAlikes, AreMostOfALump) {
  std::vector<AlikePair> pairs = all_alike(0, 5);  // ten pairs
  std::vector<char> refused(pairs.size(), 1);
  pairs[0].is_shown = true;
  refused[0] = 0;
  pairs.push_back({5, 6, true});  // not in the group
  refused.push_back(0);
  EXPECT_EQ(are_mostly_look_alikes(pairs, refused), (std::vector<char>{1, 1, 1, 1, 1, 0, 0}));
  // Half of the pairs show one picture, so most are not of two pictures.
  for (std::size_t i = 0; i < 5; ++i) {
    pairs[i].is_shown = true;
    refused[i] = 0;
  }
  EXPECT_EQ(are_mostly_look_alikes(pairs, refused)[0], 0);
  EXPECT_TRUE(are_mostly_look_alikes({}, {}).empty());
}

TEST(LookAlikes, ThatStrayAreNoLump) {
  std::vector<AlikePair> chain;
  for (std::uint32_t row = 0; row < 30; ++row) chain.push_back({row, row + 1});
  const std::vector<char> mostly = are_mostly_look_alikes(chain, std::vector<char>(30, 1));
  EXPECT_EQ(std::ranges::count(mostly, 1), 0);
}

}  // namespace winnow::dedup::families_test

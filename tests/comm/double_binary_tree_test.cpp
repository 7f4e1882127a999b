#include "common/comm/schedule/double_binary_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "tests/comm/check/check.h"
#include "tests/comm/vector_executor.h"

namespace winnow::comm::double_binary_tree_test {

int hops_to_root(int rank, int ranks, int tree) {
  int hops = 0;
  while ((rank = double_binary_tree_place(rank, ranks, tree).parent) >= 0) ++hops;
  return hops;
}

TEST(DoubleBinaryTree, IsShallowAndBinary) {
  for (int ranks = 2; ranks <= 300; ++ranks) {
    const int most = std::bit_width(static_cast<unsigned>(ranks - 1));
    for (const int tree : {0, 1}) {
      for (int rank = 0; rank < ranks; ++rank) {
        EXPECT_LE(double_binary_tree_place(rank, ranks, tree).children.size(), 2u);
        ASSERT_LE(hops_to_root(rank, ranks, tree), most) << rank << " of " << ranks;
      }
    }
  }
}

TEST(DoubleBinaryTree, ParentsAndChildrenAgree) {
  for (int ranks = 1; ranks <= 300; ++ranks) {
    for (const int tree : {0, 1}) {
      int roots = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const TreePlace place = double_binary_tree_place(rank, ranks, tree);
        roots += place.parent < 0 ? 1 : 0;
        for (const int child : place.children) {
          ASSERT_EQ(double_binary_tree_place(child, ranks, tree).parent, rank)
              << "child " << child << " of " << rank << ", " << ranks << " ranks";
        }
      }
      EXPECT_EQ(roots, 1) << ranks << " ranks";
    }
  }
}

TEST(DoubleBinaryTree, NoRankMovesMoreThanTwiceTheBuffer) {
  constexpr std::size_t kCount = 32'000;
  for (int ranks = 2; ranks <= 64; ++ranks) {
    for (const Traffic& rank : traffic(transfers_of_all(find_schedule("double_binary_tree"), ranks,
                                                        kCount, {.segment_elements = 1000}))) {
      EXPECT_LE(rank.sent, 2 * kCount) << ranks << " ranks";
      EXPECT_LE(rank.received, 2 * kCount) << ranks << " ranks";
    }
  }
}

}  // namespace winnow::comm::double_binary_tree_test

#include "common/comm/schedule/all_to_all.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "common/error.h"
#include "tests/comm/check/check.h"

namespace winnow::comm::all_to_all_test {

using Kind = Transfer::Kind;
using TransferLists = std::vector<std::vector<Transfer>>;
using Counts = std::vector<std::vector<std::size_t>>;
using testing::HasSubstr;

// Parts of up to `most` elements; about one in four is empty.
Counts random_counts(int ranks, std::size_t most, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<std::size_t> size(0, most);
  const auto p = static_cast<std::size_t>(ranks);
  Counts counts(p, std::vector<std::size_t>(p));
  for (auto& of_rank : counts) {
    for (std::size_t& count : of_rank) count = random() % 4 == 0 ? 0 : size(random);
  }
  return counts;
}

TransferLists transfers_of_all(const Counts& counts, std::size_t segment) {
  TransferLists out;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    std::vector<std::size_t> out_offsets{0};
    std::vector<std::size_t> in_offsets{0};
    for (std::size_t peer = 0; peer < counts.size(); ++peer) {
      out_offsets.push_back(out_offsets.back() + counts[rank][peer]);
      in_offsets.push_back(in_offsets.back() + counts[peer][rank]);
    }
    out.push_back(all_to_all(static_cast<int>(rank), {out_offsets, in_offsets},
                             {.segment_elements = segment}));
  }
  return out;
}

TEST(AllToAll, BringsEveryElementOnceToItsPlace) {
  for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 64}) {
    for (std::uint32_t seed = 0; seed < (ranks > 16 ? 1u : 8u); ++seed) {
      const Counts counts = random_counts(ranks, 40, seed);
      for (const std::size_t segment : {1u, 2u, 7u, 39u, 1000u}) {
        ASSERT_EQ(check_all_to_all(transfers_of_all(counts, segment), counts), "")
            << ranks << " ranks, seed " << seed << ", segments of " << segment;
      }
    }
  }
}

TEST(AllToAll, OnePairAloneAndNothingAtAll) {
  for (const int ranks : {2, 3, 5}) {
    const auto p = static_cast<std::size_t>(ranks);
    Counts counts(p, std::vector<std::size_t>(p));
    for (const auto& transfers : transfers_of_all(counts, 10)) EXPECT_TRUE(transfers.empty());
    counts[p - 1][0] = 95;
    const TransferLists transfers = transfers_of_all(counts, 10);
    EXPECT_EQ(check_all_to_all(transfers, counts), "");
    EXPECT_EQ(transfers[p - 1].size(), 10u);
    EXPECT_EQ(transfers[0].size(), 10u);
    for (std::size_t rank = 1; rank + 1 < p; ++rank) EXPECT_TRUE(transfers[rank].empty());
  }
}

TEST(AllToAll, ThePartKeptNeedsNoTransfer) {
  EXPECT_TRUE(transfers_of_all({{1000}}, 10)[0].empty());
  const Counts counts{{500, 0}, {0, 700}};
  for (const auto& transfers : transfers_of_all(counts, 10)) EXPECT_TRUE(transfers.empty());
  EXPECT_EQ(check_all_to_all(transfers_of_all(counts, 10), counts), "");
}

TEST(AllToAll, NoMessageIsLongerThanASegmentNorAnInt) {
  const Counts counts = random_counts(5, 100, 3);
  for (const auto& transfers : transfers_of_all(counts, 17)) {
    for (const Transfer& transfer : transfers) {
      EXPECT_LE(transfer.count, 17u);
      EXPECT_GT(transfer.count, 0u);
    }
  }
  // 20 GiB of elements of 4 bytes for each of two other ranks.
  constexpr std::size_t kHuge = 5'000'000'000;
  const Counts huge(3, std::vector<std::size_t>(3, kHuge));
  const TransferLists transfers = transfers_of_all(huge, std::numeric_limits<std::size_t>::max());
  EXPECT_EQ(check_all_to_all(transfers, huge), "");
  for (const Transfer& transfer : transfers[1]) EXPECT_LE(transfer.count, kMostSegmentElements);
}

// In round k every rank sends to one other rank and receives from one other.
TEST(AllToAll, GoesByRoundsOfShift) {
  const Counts counts(4, std::vector<std::size_t>(4, 30));
  const TransferLists transfers = transfers_of_all(counts, 10);
  for (int rank = 0; rank < 4; ++rank) {
    const auto& mine = transfers[static_cast<std::size_t>(rank)];
    ASSERT_EQ(mine.size(), 18u);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const int shift = static_cast<int>(i) / 6 + 1;
      const bool sends = mine[i].kind == Kind::kSend;
      EXPECT_EQ(mine[i].peer, sends ? (rank + shift) % 4 : (rank + 4 - shift) % 4);
      EXPECT_EQ(mine[i].chain, transfers[0][i].chain) << "the same number on every rank";
    }
  }
}

TEST(AllToAll, RefusesArgumentsThatMakeNoSense) {
  const std::vector<std::size_t> offsets{0, 10, 20, 30};
  const std::vector<std::size_t> fewer{0, 10, 20};
  const std::vector<std::size_t> falling{0, 20, 10, 30};
  const std::vector<std::size_t> kept{0, 10, 25, 30};
  EXPECT_THROW(all_to_all(0, {{}, {}}, {}), Error);
  EXPECT_THROW(all_to_all(0, {offsets, fewer}, {}), Error);
  EXPECT_THROW(all_to_all(0, {falling, offsets}, {}), Error);
  EXPECT_THROW(all_to_all(0, {offsets, falling}, {}), Error);
  EXPECT_THROW(all_to_all(3, {offsets, offsets}, {}), Error);
  EXPECT_THROW(all_to_all(-1, {offsets, offsets}, {}), Error);
  EXPECT_THROW(all_to_all(0, {offsets, offsets}, {.segment_elements = 0}), UsageError);
  EXPECT_NO_THROW(all_to_all(0, {offsets, kept}, {}));
  EXPECT_THROW(all_to_all(1, {offsets, kept}, {}), Error) << "what it keeps must fit";
  const std::vector<std::size_t> huge{0, 0, std::size_t{1} << 40, std::size_t{1} << 41};
  EXPECT_THROW(all_to_all(0, {huge, huge}, {.segment_elements = 1}), UsageError);
}

// A schedule with any single fault, of several kinds and in any place, must be detected.
class SpoiltAllToAll : public testing::Test {
 protected:
  // Applies `spoil` to each transfer of each rank in turn. It returns false if it changes nothing.
  template <class Spoil>
  void expect_found(Spoil spoil) {
    const Counts counts = random_counts(4, 30, 5);
    const TransferLists sound = transfers_of_all(counts, 8);
    int mutants = 0;
    for (std::size_t rank = 0; rank < sound.size(); ++rank) {
      for (std::size_t i = 0; i < sound[rank].size(); ++i) {
        TransferLists mutant = sound;
        if (!spoil(mutant, rank, i)) continue;
        ++mutants;
        EXPECT_NE(check_all_to_all(mutant, counts), "") << "rank " << rank << ", transfer " << i;
      }
    }
    EXPECT_GT(mutants, 20);
  }

  static auto at(TransferLists& transfers, std::size_t rank, std::size_t i) {
    return transfers[rank].begin() + static_cast<std::ptrdiff_t>(i);
  }

  // The transfer at the other end of this message.
  static std::vector<Transfer>::iterator partner(TransferLists& transfers, std::size_t rank,
                                                 std::size_t i) {
    const Transfer transfer = transfers[rank][i];
    return std::ranges::find_if(
        transfers[static_cast<std::size_t>(transfer.peer)], [&](const Transfer& other) {
          return other.peer == static_cast<int>(rank) && other.chain == transfer.chain &&
                 (other.kind == Kind::kSend) != (transfer.kind == Kind::kSend);
        });
  }
};

TEST_F(SpoiltAllToAll, DroppedTransfer) {
  expect_found([](TransferLists& transfers, std::size_t rank, std::size_t i) {
    transfers[rank].erase(at(transfers, rank, i));
    return true;
  });
}

TEST_F(SpoiltAllToAll, DroppedMessage) {
  expect_found([](TransferLists& transfers, std::size_t rank, std::size_t i) {
    const auto peer = static_cast<std::size_t>(transfers[rank][i].peer);
    transfers[peer].erase(partner(transfers, rank, i));
    transfers[rank].erase(at(transfers, rank, i));
    return true;
  });
}

TEST_F(SpoiltAllToAll, RepeatedMessage) {
  expect_found([](TransferLists& transfers, std::size_t rank, std::size_t i) {
    const auto peer = static_cast<std::size_t>(transfers[rank][i].peer);
    const auto other = partner(transfers, rank, i);
    const Transfer repeated = *other;
    transfers[peer].insert(other, repeated);
    const Transfer transfer = transfers[rank][i];
    transfers[rank].insert(at(transfers, rank, i), transfer);
    return true;
  });
}

TEST_F(SpoiltAllToAll, AddForCopy) {
  expect_found([](TransferLists& transfers, std::size_t rank, std::size_t i) {
    if (transfers[rank][i].kind == Kind::kSend) return false;
    transfers[rank][i].kind = Kind::kReceiveAdd;
    return true;
  });
}

TEST_F(SpoiltAllToAll, WrongRangeOfOneSideAndOfBoth) {
  expect_found([](TransferLists& transfers, std::size_t rank, std::size_t i) {
    ++transfers[rank][i].begin;
    return true;
  });
  expect_found([](TransferLists& transfers, std::size_t rank, std::size_t i) {
    --transfers[rank][i].count;
    return true;
  });
  expect_found([](TransferLists& transfers, std::size_t rank, std::size_t i) {
    --transfers[rank][i].count;
    --partner(transfers, rank, i)->count;
    return true;
  });
}

TEST_F(SpoiltAllToAll, WrongPeer) {
  expect_found([](TransferLists& transfers, std::size_t rank, std::size_t i) {
    Transfer& transfer = transfers[rank][i];
    do {
      transfer.peer = (transfer.peer + 1) % static_cast<int>(transfers.size());
    } while (transfer.peer == static_cast<int>(rank));
    return true;
  });
}

TEST_F(SpoiltAllToAll, WrongChain) {
  expect_found([](TransferLists& transfers, std::size_t rank, std::size_t i) {
    if (i + 1 < transfers[rank].size() &&
        transfers[rank][i + 1].chain == transfers[rank][i].chain) {
      return false;  // only the last of a chain may move without breaking the order of the list
    }
    ++transfers[rank][i].chain;
    return true;
  });
}

// Two ranks that both receive before they send.
TEST(CheckAllToAll, FindsACircle) {
  const TransferLists transfers{
      {{Kind::kReceiveCopy, 1, 0, 0, 0, 2}, {Kind::kSend, 1, 0, 1, 0, 2}},
      {{Kind::kReceiveCopy, 0, 0, 0, 0, 2}, {Kind::kSend, 0, 0, 1, 0, 2}}};
  EXPECT_THAT(check_all_to_all(transfers, {{0, 2}, {2, 0}}), HasSubstr("in a circle"));
}

TEST(CheckAllToAll, TakesPartsOfAsManyRanks) {
  EXPECT_THROW(check_all_to_all({{}, {}}, {{0}}), Error);
  EXPECT_THROW(check_all_to_all({}, {}), Error);
}

}  // namespace winnow::comm::all_to_all_test

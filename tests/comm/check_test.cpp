#include "tests/comm/check/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "common/error.h"
#include "tests/comm/vector_executor.h"

namespace winnow::comm::check_test {

using Kind = Transfer::Kind;
using TransferLists = std::vector<std::vector<Transfer>>;
using testing::HasSubstr;

constexpr std::size_t kCount = 10;

// Two ranks share the work: each sums one half and sends it back.
TransferLists two_ranks() {
  return {{{Kind::kSend, 1, 0, 0, 5, 5},
           {Kind::kReceiveAdd, 1, 0, 0, 0, 5},
           {Kind::kSend, 1, 0, 1, 0, 5},
           {Kind::kReceiveCopy, 1, 0, 1, 5, 5}},
          {{Kind::kSend, 0, 0, 0, 0, 5},
           {Kind::kReceiveAdd, 0, 0, 0, 5, 5},
           {Kind::kSend, 0, 0, 1, 5, 5},
           {Kind::kReceiveCopy, 0, 0, 1, 0, 5}}};
}

TEST(Check, AcceptsTheHandWrittenExchange) { EXPECT_EQ(check_all_reduce(two_ranks(), kCount), ""); }

TEST(Check, AcceptsOneRankAndNoElements) {
  EXPECT_EQ(check_all_reduce({{}}, 5), "");
  EXPECT_EQ(check_all_reduce({{}, {}, {}}, 0), "");
}

TEST(Check, TakesAtMost4096Ranks) {
  EXPECT_THROW(check_all_reduce({}, 5), Error);
  EXPECT_THROW(check_all_reduce(TransferLists(4097), 5), Error);
}

TEST(Check, FindsRanksThatDoNothing) {
  EXPECT_THAT(check_all_reduce({{}, {}}, 5), HasSubstr("without the contribution"));
}

TEST(Check, FindsElementsLeftOut) {
  EXPECT_THAT(check_all_reduce(two_ranks(), kCount + 1), HasSubstr("elements [10, 11)"));
}

TEST(Check, FindsAPeerThatDoesNotExist) {
  for (const int peer : {-1, 0, 2}) {
    TransferLists transfers = two_ranks();
    transfers[0][0].peer = peer;
    EXPECT_THAT(check_all_reduce(transfers, kCount), HasSubstr("names the peer"));
  }
}

TEST(Check, FindsRangesOutsideTheBuffer) {
  TransferLists transfers = two_ranks();
  transfers[0][0].begin = transfers[1][1].begin = 6;
  EXPECT_THAT(check_all_reduce(transfers, kCount), HasSubstr("of 10"));
  transfers[0][0].begin = transfers[1][1].begin = static_cast<std::size_t>(-1);
  EXPECT_THAT(check_all_reduce(transfers, kCount), HasSubstr("of 10"));
}

TEST(Check, FindsListsOutOfOrder) {
  TransferLists transfers = two_ranks();
  std::swap(transfers[0][1], transfers[0][2]);
  EXPECT_THAT(check_all_reduce(transfers, kCount), HasSubstr("after"));
}

TEST(Check, FindsAContributionAddedTwice) {
  // Rank 1 sends its buffer twice.
  const TransferLists transfers{{{Kind::kReceiveAdd, 1, 0, 0, 0, 4},
                                 {Kind::kReceiveAdd, 1, 0, 0, 0, 4},
                                 {Kind::kSend, 1, 0, 1, 0, 4}},
                                {{Kind::kSend, 0, 0, 0, 0, 4},
                                 {Kind::kSend, 0, 0, 0, 0, 4},
                                 {Kind::kReceiveCopy, 0, 0, 1, 0, 4}}};
  EXPECT_THAT(check_all_reduce(transfers, 4), HasSubstr("a second time"));
}

TEST(Check, FindsTransfersOfOneRoundThatMeet) {
  // Rank 0 sends and receives the same elements at once: the result on rank 1 depends on timing.
  const TransferLists transfers{
      {{Kind::kSend, 1, 0, 0, 0, 4}, {Kind::kReceiveCopy, 1, 0, 0, 0, 4}},
      {{Kind::kSend, 0, 0, 0, 0, 4}, {Kind::kReceiveCopy, 0, 0, 0, 0, 4}}};
  EXPECT_THAT(check_all_reduce(transfers, 4), HasSubstr("that meet in"));
}

// A round sends the values from before its additions.
TEST(Check, AcceptsRanksThatExchangeAllTheyHave) {
  const TransferLists transfers{{{Kind::kSend, 1, 0, 0, 0, 4}, {Kind::kReceiveAdd, 1, 0, 0, 0, 4}},
                                {{Kind::kSend, 0, 0, 0, 0, 4}, {Kind::kReceiveAdd, 0, 0, 0, 0, 4}}};
  EXPECT_EQ(check_all_reduce(transfers, 4), "");
}

TEST(Check, FindsChainsThatMeet) {
  const TransferLists transfers{
      {{Kind::kReceiveAdd, 1, 0, 0, 0, 6}, {Kind::kSend, 1, 1, 0, 4, 6}},
      {{Kind::kSend, 0, 0, 0, 0, 6}, {Kind::kReceiveCopy, 0, 1, 0, 4, 6}}};
  EXPECT_THAT(check_all_reduce(transfers, 10), HasSubstr("in chain 1 and in chain 0"));
}

// The sums are right if messages are buffered without limit, but otherwise the ranks block.
TEST(Check, FindsACircleOfRanksThatSendFirst) {
  constexpr int kRanks = 3;
  TransferLists transfers(kRanks);
  for (int rank = 0; rank < kRanks; ++rank) {
    const int next = (rank + 1) % kRanks;
    const int previous = (rank + kRanks - 1) % kRanks;
    const auto at = static_cast<std::size_t>(rank);
    transfers[at] = {{Kind::kSend, next, 0, 0, 0, 1}, {Kind::kReceiveAdd, previous, 0, 1, 0, 1}};
  }
  EXPECT_THAT(check_all_reduce(transfers, 1), HasSubstr("in a circle"));
}

TEST(Check, FindsRanksThatBothReceiveFirst) {
  const TransferLists transfers{{{Kind::kReceiveAdd, 1, 0, 0, 0, 2}, {Kind::kSend, 1, 0, 1, 0, 2}},
                                {{Kind::kReceiveAdd, 0, 0, 0, 0, 2}, {Kind::kSend, 0, 0, 1, 0, 2}}};
  EXPECT_THAT(check_all_reduce(transfers, 2), HasSubstr("in a circle"));
}

struct Sample {
  std::string_view name;
  int ranks;
  std::size_t count;
  ScheduleOptions options;
};
void PrintTo(const Sample& sample, std::ostream* out) { *out << sample.name << sample.ranks; }

std::vector<Sample> samples() {
  std::vector<Sample> out;
  for (const Schedule& schedule : schedules()) {
    out.push_back({schedule.name, 5, 60, {.colors = 2, .segment_elements = 16}});
    out.push_back({schedule.name, 8, 100, {.colors = 4, .segment_elements = 16}});
    out.push_back({schedule.name, 4, 33, {.colors = 1, .segment_elements = 16}});
    out.push_back({schedule.name, 3, 20, {.segment_elements = 4}});
    out.push_back({schedule.name, 5, 23, {.segment_elements = 100}});
  }
  return out;
}

// Every schedule with any single fault, of several kinds and in any place, must be detected.
class CheckMutants : public testing::TestWithParam<Sample> {
 protected:
  // Applies `spoil` to each transfer of each rank in turn. It returns false if it changes nothing.
  template <class Spoil>
  void expect_found(Spoil spoil) {
    const Sample& sample = GetParam();
    const TransferLists sound =
        transfers_of_all(find_schedule(sample.name), sample.ranks, sample.count, sample.options);
    ASSERT_EQ(check_all_reduce(sound, sample.count), "");
    int mutants = 0;
    for (std::size_t rank = 0; rank < sound.size(); ++rank) {
      for (std::size_t i = 0; i < sound[rank].size(); ++i) {
        TransferLists mutant = sound;
        if (!spoil(mutant, rank, i)) continue;
        ++mutants;
        EXPECT_NE(check_all_reduce(mutant, sample.count), "")
            << "rank " << rank << ", transfer " << i;
      }
    }
    EXPECT_GT(mutants, 0);
  }
};

TEST_P(CheckMutants, DroppedTransfer) {
  expect_found([](TransferLists& transfers, std::size_t rank, std::size_t i) {
    transfers[rank].erase(transfers[rank].begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  });
}

TEST_P(CheckMutants, DroppedMessage) {
  expect_found([](TransferLists& transfers, std::size_t rank, std::size_t i) {
    const Transfer transfer = transfers[rank][i];
    if (transfer.kind != Kind::kSend) return false;
    auto& peer = transfers[static_cast<std::size_t>(transfer.peer)];
    const auto at = std::ranges::find_if(peer, [&](const Transfer& other) {
      return other.kind != Kind::kSend && other.peer == static_cast<int>(rank) &&
             other.chain == transfer.chain && other.begin == transfer.begin;
    });
    peer.erase(at);
    transfers[rank].erase(transfers[rank].begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  });
}

TEST_P(CheckMutants, RepeatedTransfer) {
  expect_found([](TransferLists& transfers, std::size_t rank, std::size_t i) {
    const Transfer transfer = transfers[rank][i];
    transfers[rank].insert(transfers[rank].begin() + static_cast<std::ptrdiff_t>(i), transfer);
    return true;
  });
}

TEST_P(CheckMutants, AddForCopyAndCopyForAdd) {
  expect_found([](TransferLists& transfers, std::size_t rank, std::size_t i) {
    Transfer& transfer = transfers[rank][i];
    if (transfer.kind == Kind::kSend) return false;
    transfer.kind = transfer.kind == Kind::kReceiveAdd ? Kind::kReceiveCopy : Kind::kReceiveAdd;
    return true;
  });
}

TEST_P(CheckMutants, WrongRange) {
  expect_found([](TransferLists& transfers, std::size_t rank, std::size_t i) {
    Transfer& transfer = transfers[rank][i];
    transfer.begin = transfer.begin == 0 ? 1 : transfer.begin - 1;
    return true;
  });
  expect_found([](TransferLists& transfers, std::size_t rank, std::size_t i) {
    --transfers[rank][i].count;
    return true;
  });
}

TEST_P(CheckMutants, WrongPeer) {
  expect_found([](TransferLists& transfers, std::size_t rank, std::size_t i) {
    const int ranks = static_cast<int>(transfers.size());
    Transfer& transfer = transfers[rank][i];
    const int before = transfer.peer;
    transfer.peer = (transfer.peer + 1) % ranks;
    if (transfer.peer == static_cast<int>(rank)) transfer.peer = (transfer.peer + 1) % ranks;
    return transfer.peer != before;
  });
}

TEST_P(CheckMutants, WrongChain) {
  expect_found([](TransferLists& transfers, std::size_t rank, std::size_t i) {
    if (i + 1 < transfers[rank].size() &&
        transfers[rank][i + 1].chain == transfers[rank][i].chain) {
      return false;  // only the last of a chain may move without breaking the order of the list
    }
    ++transfers[rank][i].chain;
    transfers[rank][i].round = -1;
    return true;
  });
}

// Swaps a round with the next one of its chain.
TEST_P(CheckMutants, SwappedOrder) {
  expect_found([](TransferLists& transfers, std::size_t rank, std::size_t i) {
    auto& list = transfers[rank];
    const Transfer first = list[i];
    if (i > 0 && list[i - 1].chain == first.chain && list[i - 1].round == first.round) return false;
    const auto in = [&](int round) {
      return [&, round](const Transfer& s) { return s.chain == first.chain && s.round == round; };
    };
    const auto next = std::ranges::find_if(
        list, [&](const Transfer& s) { return s.chain == first.chain && s.round > first.round; });
    if (next == list.end()) return false;
    const int later = next->round;
    const auto end = std::ranges::find_if_not(next, list.end(), in(later));
    for (auto at = list.begin() + static_cast<std::ptrdiff_t>(i); at != end; ++at) {
      at->round = at->round == later ? first.round : later;
    }
    std::stable_sort(list.begin() + static_cast<std::ptrdiff_t>(i), end,
                     [](const Transfer& a, const Transfer& b) { return a.round < b.round; });
    return true;
  });
}

INSTANTIATE_TEST_SUITE_P(All, CheckMutants, testing::ValuesIn(samples()), [](const auto& info) {
  return std::string(info.param.name) + "_" + std::to_string(info.index);
});

TEST(Traffic, CountsElements) {
  const auto cost = traffic(two_ranks());
  ASSERT_EQ(cost.size(), 2u);
  for (const Traffic& rank : cost) {
    EXPECT_EQ(rank.sent, 10u);
    EXPECT_EQ(rank.received, 10u);
    EXPECT_EQ(rank.added, 5u);
  }
}

}  // namespace winnow::comm::check_test

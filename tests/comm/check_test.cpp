#include "common/comm/check/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "common/error.h"
#include "tests/comm/vector_executor.h"

namespace winnow::comm {
namespace {

using Kind = Step::Kind;
using StepLists = std::vector<std::vector<Step>>;
using testing::HasSubstr;

constexpr std::size_t kCount = 10;

// Two ranks swap the halves of the work: each sums one half and sends it back.
StepLists two_ranks() {
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

TEST(Check, TakesAtMost64Ranks) {
  EXPECT_THROW(check_all_reduce({}, 5), Error);
  EXPECT_THROW(check_all_reduce(StepLists(65), 5), Error);
}

TEST(Check, FindsRanksThatDoNothing) {
  EXPECT_THAT(check_all_reduce({{}, {}}, 5), HasSubstr("without the contribution"));
}

TEST(Check, FindsElementsLeftOut) {
  EXPECT_THAT(check_all_reduce(two_ranks(), kCount + 1), HasSubstr("elements [10, 11)"));
}

TEST(Check, FindsAPeerThatDoesNotExist) {
  for (const int peer : {-1, 0, 2}) {
    StepLists steps = two_ranks();
    steps[0][0].peer = peer;
    EXPECT_THAT(check_all_reduce(steps, kCount), HasSubstr("names the peer"));
  }
}

TEST(Check, FindsRangesOutsideTheBuffer) {
  StepLists steps = two_ranks();
  steps[0][0].begin = steps[1][1].begin = 6;
  EXPECT_THAT(check_all_reduce(steps, kCount), HasSubstr("of 10"));
  steps[0][0].begin = steps[1][1].begin = static_cast<std::size_t>(-1);
  EXPECT_THAT(check_all_reduce(steps, kCount), HasSubstr("of 10"));
}

TEST(Check, FindsListsOutOfOrder) {
  StepLists steps = two_ranks();
  std::swap(steps[0][1], steps[0][2]);
  EXPECT_THAT(check_all_reduce(steps, kCount), HasSubstr("after"));
}

TEST(Check, FindsAContributionAddedTwice) {
  // Rank 1 sends its buffer twice.
  const StepLists steps{{{Kind::kReceiveAdd, 1, 0, 0, 0, 4},
                         {Kind::kReceiveAdd, 1, 0, 0, 0, 4},
                         {Kind::kSend, 1, 0, 1, 0, 4}},
                        {{Kind::kSend, 0, 0, 0, 0, 4},
                         {Kind::kSend, 0, 0, 0, 0, 4},
                         {Kind::kReceiveCopy, 0, 0, 1, 0, 4}}};
  EXPECT_THAT(check_all_reduce(steps, 4), HasSubstr("a second time"));
}

TEST(Check, FindsStepsOfOneRoundThatMeet) {
  // Rank 0 sends and receives the same elements at once: what rank 1 gets depends on timing.
  const StepLists steps{{{Kind::kSend, 1, 0, 0, 0, 4}, {Kind::kReceiveAdd, 1, 0, 0, 0, 4}},
                        {{Kind::kSend, 0, 0, 0, 0, 4}, {Kind::kReceiveAdd, 0, 0, 0, 0, 4}}};
  EXPECT_THAT(check_all_reduce(steps, 4), HasSubstr("that meet in"));
}

TEST(Check, FindsChainsThatMeet) {
  const StepLists steps{{{Kind::kReceiveAdd, 1, 0, 0, 0, 6}, {Kind::kSend, 1, 1, 0, 4, 6}},
                        {{Kind::kSend, 0, 0, 0, 0, 6}, {Kind::kReceiveCopy, 0, 1, 0, 4, 6}}};
  EXPECT_THAT(check_all_reduce(steps, 10), HasSubstr("in chain 1 and in chain 0"));
}

// Sums nothing wrong if messages are buffered without limit, yet blocks if they are not.
TEST(Check, FindsACircleOfRanksThatSendFirst) {
  constexpr int kRanks = 3;
  StepLists steps(kRanks);
  for (int rank = 0; rank < kRanks; ++rank) {
    const int next = (rank + 1) % kRanks;
    const int previous = (rank + kRanks - 1) % kRanks;
    const auto at = static_cast<std::size_t>(rank);
    steps[at] = {{Kind::kSend, next, 0, 0, 0, 1}, {Kind::kReceiveAdd, previous, 0, 1, 0, 1}};
  }
  EXPECT_THAT(check_all_reduce(steps, 1), HasSubstr("in a circle"));
}

TEST(Check, FindsRanksThatBothReceiveFirst) {
  const StepLists steps{{{Kind::kReceiveAdd, 1, 0, 0, 0, 2}, {Kind::kSend, 1, 0, 1, 0, 2}},
                        {{Kind::kReceiveAdd, 0, 0, 0, 0, 2}, {Kind::kSend, 0, 0, 1, 0, 2}}};
  EXPECT_THAT(check_all_reduce(steps, 2), HasSubstr("in a circle"));
}

struct Sample {
  std::string_view name;
  int ranks;
  std::size_t count;
  ScheduleOptions options;
};
void PrintTo(const Sample& sample, std::ostream* out) { *out << sample.name << sample.ranks; }

// Every schedule, spoilt in every single place in each of several ways, must be found out.
class CheckMutants : public testing::TestWithParam<Sample> {
 protected:
  // Applies `spoil` to each step of each rank in turn; it returns false where it changes nothing.
  template <class Spoil>
  void expect_found(Spoil spoil) {
    const Sample& sample = GetParam();
    const StepLists sound =
        steps_of_all(find_schedule(sample.name), sample.ranks, sample.count, sample.options);
    ASSERT_EQ(check_all_reduce(sound, sample.count), "");
    int mutants = 0;
    for (std::size_t rank = 0; rank < sound.size(); ++rank) {
      for (std::size_t i = 0; i < sound[rank].size(); ++i) {
        StepLists mutant = sound;
        if (!spoil(mutant, rank, i)) continue;
        ++mutants;
        EXPECT_NE(check_all_reduce(mutant, sample.count), "") << "rank " << rank << ", step " << i;
      }
    }
    EXPECT_GT(mutants, 0);
  }
};

TEST_P(CheckMutants, DroppedStep) {
  expect_found([](StepLists& steps, std::size_t rank, std::size_t i) {
    steps[rank].erase(steps[rank].begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  });
}

TEST_P(CheckMutants, DroppedMessage) {
  expect_found([](StepLists& steps, std::size_t rank, std::size_t i) {
    const Step step = steps[rank][i];
    if (step.kind != Kind::kSend) return false;
    auto& peer = steps[static_cast<std::size_t>(step.peer)];
    const auto at = std::ranges::find_if(peer, [&](const Step& other) {
      return other.kind != Kind::kSend && other.peer == static_cast<int>(rank) &&
             other.chain == step.chain && other.begin == step.begin;
    });
    peer.erase(at);
    steps[rank].erase(steps[rank].begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  });
}

TEST_P(CheckMutants, RepeatedStep) {
  expect_found([](StepLists& steps, std::size_t rank, std::size_t i) {
    const Step step = steps[rank][i];
    steps[rank].insert(steps[rank].begin() + static_cast<std::ptrdiff_t>(i), step);
    return true;
  });
}

TEST_P(CheckMutants, AddForCopyAndCopyForAdd) {
  expect_found([](StepLists& steps, std::size_t rank, std::size_t i) {
    Step& step = steps[rank][i];
    if (step.kind == Kind::kSend) return false;
    step.kind = step.kind == Kind::kReceiveAdd ? Kind::kReceiveCopy : Kind::kReceiveAdd;
    return true;
  });
}

TEST_P(CheckMutants, WrongRange) {
  expect_found([](StepLists& steps, std::size_t rank, std::size_t i) {
    Step& step = steps[rank][i];
    if (step.begin == 0) return false;
    --step.begin;
    return true;
  });
  expect_found([](StepLists& steps, std::size_t rank, std::size_t i) {
    --steps[rank][i].count;
    return true;
  });
}

TEST_P(CheckMutants, WrongPeer) {
  expect_found([](StepLists& steps, std::size_t rank, std::size_t i) {
    const int ranks = static_cast<int>(steps.size());
    Step& step = steps[rank][i];
    const int before = step.peer;
    step.peer = (step.peer + 1) % ranks;
    if (step.peer == static_cast<int>(rank)) step.peer = (step.peer + 1) % ranks;
    return step.peer != before;
  });
}

TEST_P(CheckMutants, WrongChain) {
  expect_found([](StepLists& steps, std::size_t rank, std::size_t i) {
    if (i + 1 < steps[rank].size() && steps[rank][i + 1].chain == steps[rank][i].chain) {
      return false;  // only the last of a chain may move without spoiling the list's order
    }
    ++steps[rank][i].chain;
    steps[rank][i].round = -1;
    return true;
  });
}

// A round swapped with the next one of its chain.
TEST_P(CheckMutants, SwappedOrder) {
  expect_found([](StepLists& steps, std::size_t rank, std::size_t i) {
    auto& list = steps[rank];
    const Step first = list[i];
    if (i > 0 && list[i - 1].chain == first.chain && list[i - 1].round == first.round) return false;
    const auto in = [&](int round) {
      return [&, round](const Step& s) { return s.chain == first.chain && s.round == round; };
    };
    const auto next = std::ranges::find_if(
        list, [&](const Step& s) { return s.chain == first.chain && s.round > first.round; });
    if (next == list.end()) return false;
    const int later = next->round;
    const auto end = std::ranges::find_if_not(next, list.end(), in(later));
    for (auto at = list.begin() + static_cast<std::ptrdiff_t>(i); at != end; ++at) {
      at->round = at->round == later ? first.round : later;
    }
    std::stable_sort(list.begin() + static_cast<std::ptrdiff_t>(i), end,
                     [](const Step& a, const Step& b) { return a.round < b.round; });
    return true;
  });
}

INSTANTIATE_TEST_SUITE_P(
    All, CheckMutants,
    testing::Values(Sample{"multicolor", 5, 60, {.colors = 2, .segment_elements = 16}},
                    Sample{"multicolor", 8, 100, {.colors = 4, .segment_elements = 16}},
                    Sample{"multicolor", 4, 33, {.colors = 1, .segment_elements = 16}},
                    Sample{"ring", 3, 20, {.segment_elements = 4}},
                    Sample{"ring", 5, 23, {.segment_elements = 100}}),
    [](const auto& info) {
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

}  // namespace
}  // namespace winnow::comm

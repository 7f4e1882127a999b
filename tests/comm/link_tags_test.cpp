#include "common/comm/schedule/link_tags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "common/comm/schedule/all_to_all.h"
#include "common/comm/schedule/some_ranks.h"
#include "tests/comm/check/check.h"
#include "tests/comm/vector_executor.h"

namespace winnow::comm::link_tags_test {

using TransferLists = std::vector<std::vector<Transfer>>;
using Operations = std::vector<TransferLists>;
using testing::HasSubstr;

constexpr int kEnough = 32'766;  // tags of the smallest MPI library

// The ranks of a job that take part in something, at least `least`, in any order.
std::vector<int> some_of(int ranks, int least, std::mt19937& random) {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) all[static_cast<std::size_t>(rank)] = rank;
  std::ranges::shuffle(all, random);
  all.resize(std::uniform_int_distribution<std::size_t>(static_cast<std::size_t>(least),
                                                        all.size())(random));
  return all;
}

TransferLists all_reduce_of_some(int ranks, std::mt19937& random) {
  const std::vector<int> group = some_of(ranks, 1, random);
  const Schedule& schedule =
      schedules()[std::uniform_int_distribution<std::size_t>(0, schedules().size() - 1)(random)];
  TransferLists lists;
  for (int rank = 0; rank < ranks; ++rank) {
    lists.push_back(among(one_machine(rank, ranks), group, [&](const Placement& those) {
      return schedule.all_reduce(those, 100, {.colors = 3, .segment_elements = 7});
    }));
  }
  return lists;
}

Operations random_operations(int ranks, std::size_t count, std::mt19937& random) {
  Operations operations;
  for (std::size_t o = 0; o < count; ++o) operations.push_back(all_reduce_of_some(ranks, random));
  return operations;
}

// Makes the tags as a channel does, at the beginning of each chain of a rank.
template <class TagOf>
Tags tags_by(const Operations& operations, const std::function<TagOf()>& make) {
  Tags tags(operations.size());
  for (std::size_t rank = 0; rank < operations.front().size(); ++rank) {
    TagOf tag_of = make();
    for (std::size_t o = 0; o < operations.size(); ++o) {
      const std::vector<Transfer>& transfers = operations[o][rank];
      std::vector<int>& of_rank = tags[o].emplace_back();
      for (std::size_t i = 0; i < transfers.size(); ++i) {
        if (i == 0 || transfers[i].chain != transfers[i - 1].chain) tag_of.begin_chain();
        of_rank.push_back(tag_of.of(transfers[i].peer, transfers[i].kind == Transfer::Kind::kSend));
      }
    }
  }
  return tags;
}

Tags link_tags(const Operations& operations) {
  return tags_by<LinkTags>(operations, [] { return LinkTags(kEnough); });
}

// Every chain that a rank is in takes the next tag.
Tags tags_counted_by_rank(const Operations& operations) {
  struct Counted {
    int chains = -1;
    void begin_chain() { ++chains; }
    int of(int, bool) const { return chains; }
  };
  return tags_by<Counted>(operations, [] { return Counted{}; });
}

TEST(LinkTags, TellAllReducesOfSomeRanksApart) {
  std::mt19937 random(7);
  for (const int ranks : {1, 2, 3, 5, 8, 17}) {
    for (int repeat = 0; repeat < 5; ++repeat) {
      const Operations operations = random_operations(ranks, 20, random);
      ASSERT_EQ(check_tags(operations, link_tags(operations)), "") << ranks << " ranks";
    }
  }
}

TEST(LinkTags, TellExchangesApartInWhichRanksAreInSomeChains) {
  std::mt19937 random(8);
  std::uniform_int_distribution<std::size_t> part(0, 20);
  constexpr int kRanks = 5;
  Operations operations;
  for (int o = 0; o < 10; ++o) {
    std::vector<std::vector<std::size_t>> counts(kRanks, std::vector<std::size_t>(kRanks));
    for (auto& row : counts) std::ranges::generate(row, [&] { return part(random) / 10 * 10; });
    TransferLists& lists = operations.emplace_back();
    for (std::size_t me = 0; me < kRanks; ++me) {
      std::vector<std::size_t> out{0}, in{0};
      for (std::size_t peer = 0; peer < kRanks; ++peer) {
        out.push_back(out.back() + counts[me][peer]);
        in.push_back(in.back() + counts[peer][me]);
      }
      lists.push_back(all_to_all(static_cast<int>(me), {out, in}, {.segment_elements = 4}));
    }
  }
  EXPECT_EQ(check_tags(operations, link_tags(operations)), "");
}

// The count is by link because ranks that are in other chains count others.
TEST(LinkTags, ACountByRankIsForAllRanksAlone) {
  Operations operations(2);
  for (int rank = 0; rank < 3; ++rank) {
    operations[0].push_back(among(one_machine(rank, 3), std::vector{0, 1}, [](const Placement& p) {
      return find_schedule("ring").all_reduce(p, 10, {});
    }));
    operations[1].push_back(
        find_schedule("ring").all_reduce(one_machine(rank, 3), 10, {.segment_elements = 2}));
  }
  EXPECT_THAT(check_tags(operations, tags_counted_by_rank(operations)), HasSubstr("received with"));
  EXPECT_EQ(check_tags(operations, link_tags(operations)), "");
  operations.erase(operations.begin());
  EXPECT_EQ(check_tags(operations, tags_counted_by_rank(operations)), "");
}

// Chains that run at once and have several rounds send in an order that depends on timing.
TEST(LinkTags, OneTagAnOperationIsNotEnough) {
  const Operations operations{
      transfers_of_all(find_schedule("ring"), 3, 30, {.segment_elements = 2})};
  Tags tags = link_tags(operations);
  for (std::vector<int>& of_rank : tags[0]) std::ranges::fill(of_rank, 0);
  EXPECT_THAT(check_tags(operations, tags), HasSubstr("have one tag"));
}

TEST(LinkTags, CheckFindsAnEndThatIsMissing) {
  Operations operations{transfers_of_all(find_schedule("ring"), 3, 30, {})};
  operations[0][1].clear();
  EXPECT_THAT(check_tags(operations, link_tags(operations)), HasSubstr("has no receiver"));
}

TEST(LinkTags, ATagComesAgainWhenItsChainIsOver) {
  constexpr int kMost = 3;
  std::mt19937 random(9);
  LinkTags tags(kMost);
  std::map<std::uint64_t, std::map<std::pair<int, bool>, int>> under_way;  // by number of the chain
  int waited = 0;
  for (int step = 0; step < 5000; ++step) {
    const bool may = under_way.empty() || tags.may_begin(under_way.begin()->first);
    waited += may ? 0 : 1;
    if (!may || (under_way.size() == 4 || random() % 3 == 0)) {
      if (under_way.empty()) continue;
      // Any of them is over.
      under_way.erase(
          std::next(under_way.begin(), static_cast<std::ptrdiff_t>(random() % under_way.size())));
      continue;
    }
    auto& mine = under_way[tags.begin_chain()];
    for (int peer = 0; peer < 3; ++peer) {
      if (random() % 2 == 0) mine[{peer, random() % 2 == 0}] = 0;
    }
    for (auto& [link, tag] : mine) tag = tags.of(link.first, link.second);
    std::set<std::tuple<int, bool, int>> seen;
    for (const auto& [number, links] : under_way) {
      for (const auto& [link, tag] : links) {
        ASSERT_LE(tag, kMost);
        ASSERT_TRUE(seen.emplace(link.first, link.second, tag).second)
            << "two chains under way have tag " << tag << " on a link";
      }
    }
  }
  EXPECT_GT(waited, 0);
}

// The first unfinished chain of all never waits for a tag.
TEST(LinkTags, TheOldestChainMayAlwaysBegin) {
  LinkTags tags(1);
  for (int chain = 0; chain < 10; ++chain) {
    const std::uint64_t number = tags.begin_chain();
    EXPECT_EQ(tags.of(0, true), chain % 2);
    EXPECT_EQ(tags.of(0, true), chain % 2) << "a second message of the chain";
    EXPECT_TRUE(tags.may_begin(number));
    EXPECT_TRUE(number == 1 || !tags.may_begin(number - 1));
  }
}

}  // namespace winnow::comm::link_tags_test

#include "train/plan/rank_stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "common/error.h"
#include "train/plan/lanes.h"
#include "train/plan/step_tasks.h"

namespace winnow::train::rank_stages_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(RankStages, FollowEachOther) {
  const RankStages stages{{3, 1, 2}};
  EXPECT_TRUE(stages.is_pipeline());
  EXPECT_EQ(stages.total(), 6);
  std::vector<int> of;
  for (int rank = 0; rank < 6; ++rank) of.push_back(stages.stage_of(rank));
  EXPECT_THAT(of, ElementsAre(0, 0, 0, 1, 2, 2));
  EXPECT_THAT(stages.members(2), ElementsAre(4, 5));
  EXPECT_EQ(stages.place_of(5).rank, 1);
  EXPECT_EQ(stages.place_of(5).ranks, 2);
  EXPECT_FALSE(RankStages{{4}}.is_pipeline());
}

double slowest(const std::vector<double>& costs, const std::vector<int>& ranks) {
  double most = 0;
  for (std::size_t s = 0; s < costs.size(); ++s) most = std::max(most, costs[s] / ranks[s]);
  return most;
}

// The least of all ways to spread `left` ranks over stages from `s`.
double best_of_all(const std::vector<double>& costs, std::vector<int>& ranks, std::size_t s,
                   int left) {
  if (s + 1 == costs.size()) {
    ranks[s] = left;
    return slowest(costs, ranks);
  }
  double best = std::numeric_limits<double>::infinity();
  for (int n = 1; n + static_cast<int>(costs.size() - s) - 1 <= left; ++n) {
    ranks[s] = n;
    best = std::min(best, best_of_all(costs, ranks, s + 1, left - n));
  }
  return best;
}

TEST(RankStages, AreSpreadAsWellAsCanBe) {
  std::mt19937 random(3);
  for (int stages = 1; stages <= 4; ++stages) {
    for (int ranks = stages; ranks <= 9; ++ranks) {
      std::vector<double> costs(static_cast<std::size_t>(stages));
      std::ranges::generate(costs, [&] { return static_cast<double>(1 + random() % 100); });
      const RankStages spread = spread_ranks(costs, ranks);
      std::vector<int> tried(costs.size());
      EXPECT_EQ(spread.total(), ranks);
      EXPECT_EQ(slowest(costs, spread.ranks), best_of_all(costs, tried, 0, ranks));
    }
  }
  EXPECT_THAT(
      [] {
        spread_ranks({1, 1, 1}, 2);
      },
      ThrowsMessage<UsageError>(HasSubstr("at least one rank for each of 3 stages")));
}

// A pipeline of any shape: stages, ranks, micro-batches and lanes.
Layout random_layout(std::mt19937& random) {
  const auto up_to = [&](int most) {
    return 1 + static_cast<int>(random() % static_cast<unsigned>(most));
  };
  Layout layout;
  const int stages = 1 + up_to(7);
  layout.stage_ranks.assign(static_cast<std::size_t>(stages), 1);
  for (int more = up_to(17) - stages; more > 0; --more) {
    ++layout.stage_ranks[random() % layout.stage_ranks.size()];
  }
  const int most = std::ranges::max(layout.stage_ranks);
  BatchLayout batches{.samples = 1, .batch = most + up_to(12), .micro_batch = 1};
  const RankStages ranks{layout.stage_ranks};
  for (int rank = 0; rank < ranks.total(); ++rank) {
    const RankOf place = ranks.place_of(rank);
    const std::int64_t mine = part_of(batches, place.rank, place.ranks).micro_batches();
    layout.ranks.push_back({.lanes = choose_lanes(up_to(4), 1, mine, 4), .threads = 4});
  }
  return layout;
}

StepTasks tasks_of(const Layout& layout, int rank) {
  const HandOvers overs = plan_hand_overs(layout, rank);
  GradientLayout gradients;
  gradients.buckets = {{.ready_after = 5}, {.ready_after = 10}};
  StepShape shape{.micro_batches = layout.ranks[static_cast<std::size_t>(rank)].lanes,
                  .threads = 4,
                  .asynchronous = rank % 3 == 2};
  const auto peers = [](const std::vector<HandOver>& all) {
    std::vector<int> found(all.size());
    for (const HandOver& one : all) found[static_cast<std::size_t>(one.micro_batch)] = one.peer;
    return found;
  };
  shape.comes_from = peers(overs.receives);
  shape.goes_to = peers(overs.sends);
  shape.sent_after = overs.sends.empty() ? 0 : 3;
  return plan_step(gradients, 10, shape);
}

// Ranks that execute their tasks in any order that the tasks allow. Messages of a link arrive in
// the order in which they are sent. The receiver matches them to its receives in its own order.
class Ranks {
 public:
  explicit Ranks(const Layout& layout) : layout_(layout), stages_(stages_of(layout)) {
    for (int rank = 0; rank < stages_.total(); ++rank) {
      tasks_.push_back(tasks_of(layout, rank));
      done_.emplace_back(tasks_.back().tasks.size(), false);
      std::map<int, std::deque<int>>& due = due_.emplace_back();
      for (const HandOver& one : plan_hand_overs(layout, rank).receives) {
        due[one.peer].push_back(one.micro_batch);
      }
    }
  }

  // Returns how many tasks were done, in random order, until none is left or none can be done.
  std::int64_t run(std::mt19937& random) {
    std::int64_t events = 0;
    for (;;) {
      std::vector<std::pair<int, std::size_t>> ready;
      for (int rank = 0; rank < stages_.total(); ++rank) add_ready(rank, ready);
      if (ready.empty()) return events;
      const auto [rank, t] = ready[random() % ready.size()];
      perform(rank, t);
      ++events;
    }
  }

  void expect_all_done() const {
    for (std::size_t rank = 0; rank < done_.size(); ++rank) {
      EXPECT_EQ(std::ranges::count(done_[rank], false), 0) << "rank " << rank << " waits for ever";
    }
    const std::set<int> batch = seen_.front();
    for (const std::set<int>& of_stage : seen_) EXPECT_EQ(of_stage, batch);
  }

 private:
  void add_ready(int rank, std::vector<std::pair<int, std::size_t>>& ready) const {
    const auto r = static_cast<std::size_t>(rank);
    for (std::size_t t = 0; t < tasks_[r].tasks.size(); ++t) {
      const Task& task = tasks_[r].tasks[t];
      if (done_[r][t]) continue;
      const bool may = std::ranges::all_of(
          task.after, [&](int before) { return done_[r][static_cast<std::size_t>(before)]; });
      const bool here =
          task.kind != Task::Kind::kReceive || came_.contains({rank, task.micro_batch});
      if (may && here) ready.emplace_back(rank, t);
    }
  }

  void perform(int rank, std::size_t t) {
    const auto r = static_cast<std::size_t>(rank);
    const Task& task = tasks_[r].tasks[t];
    done_[r][t] = true;
    if (task.kind == Task::Kind::kBind) {
      const int stage = stages_.stage_of(rank);
      seen_.resize(static_cast<std::size_t>(stages_.count()));
      const bool is_new =
          seen_[static_cast<std::size_t>(stage)].insert(in_batch(rank, task.micro_batch)).second;
      EXPECT_TRUE(is_new) << "a micro-batch comes twice to stage " << stage;
    }
    if (task.kind != Task::Kind::kSend) return;
    std::deque<int>& due = due_[static_cast<std::size_t>(task.peer)][rank];
    ASSERT_FALSE(due.empty());
    EXPECT_EQ(in_batch(task.peer, due.front()), in_batch(rank, task.micro_batch))
        << "rank " << task.peer << " takes a micro-batch for another";
    came_.insert({task.peer, due.front()});
    due.pop_front();
  }

  int in_batch(int rank, int micro_batch) const {
    for (int r = stages_.first_rank(stages_.stage_of(rank)); r < rank; ++r) {
      for (const int count : layout_.ranks[static_cast<std::size_t>(r)].lanes) micro_batch += count;
    }
    return micro_batch;
  }

  const Layout& layout_;
  const RankStages stages_;
  std::vector<StepTasks> tasks_;
  std::vector<std::vector<bool>> done_;
  std::vector<std::map<int, std::deque<int>>> due_;  // [receiver][sender], in order
  std::set<std::pair<int, int>> came_;
  std::vector<std::set<int>> seen_;  // for each stage
};

TEST(HandOvers, NoOrderOfEventsBlocksItOrMixesMicroBatches) {
  std::mt19937 random(5);
  std::int64_t events = 0;
  while (events < 100'000) {
    const Layout layout = random_layout(random);
    Ranks ranks(layout);
    events += ranks.run(random);
    ranks.expect_all_done();
    if (testing::Test::HasFailure()) return;
  }
}

// Where lanes have several micro-batches, the first of each goes before the second of any.
TEST(HandOvers, LanesHandOverInTurns) {
  Layout layout;
  layout.ranks = {{.lanes = {2, 1}}, {.lanes = {3}}};
  layout.stage_ranks = {1, 1};
  const std::vector<HandOver> order{{0, 1}, {2, 1}, {1, 1}};
  EXPECT_EQ(plan_hand_overs(layout, 0).sends, order);
  const std::vector<HandOver> back{{0, 0}, {2, 0}, {1, 0}};
  EXPECT_EQ(plan_hand_overs(layout, 1).receives, back);
  EXPECT_TRUE(plan_hand_overs(layout, 1).sends.empty());
}

}  // namespace winnow::train::rank_stages_test

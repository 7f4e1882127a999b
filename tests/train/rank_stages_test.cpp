#include "train/plan/rank_stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <limits>
#include <map>
#include <random>
#include <utility>

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

// Steps of one order of events. The last has a meeting behind it.
using Meetings = std::vector<bool>;

// Ranks that execute the tasks of several steps in any order that the tasks allow.
//
// Links     Messages arrive in the order in which they are sent. The receiver matches them to its
//           receives in its own order.
// Relay     Receives start with their step, and a part of them in the task kExpect of the step
//           before, unless ranks meet between the two. A lane sends when its last message is
//           received.
// Together  After a step, ranks wait for a meeting, or for the step as many before as there are
//           stages.
class Ranks {
 public:
  Ranks(const Layout& layout, Meetings meets)
      : layout_(layout),
        stages_(stages_of(layout)),
        meets_(std::move(meets)),
        links_(static_cast<std::size_t>(stages_.total() * stages_.total())),
        seen_(meets_.size() * static_cast<std::size_t>(stages_.count())) {
    for (int rank = 0; rank < stages_.total(); ++rank) {
      Rank& one = ranks_.emplace_back();
      one.step = tasks_of(layout, rank);
      one.receives = plan_hand_overs(layout, rank).receives;
      one.followers.resize(one.step.tasks.size());
      for (std::size_t t = 0; t < one.step.tasks.size(); ++t) {
        for (const int before : one.step.tasks[t].after) {
          one.followers[static_cast<std::size_t>(before)].push_back(t);
        }
      }
      for (Slots& slots : one.came) slots.resize(one.receives.size(), kNothing);
      one.sends.resize(layout.ranks[static_cast<std::size_t>(rank)].lanes.size());
    }
  }

  // Executes everything in random order, until nothing is left or nothing can be done.
  void run(std::mt19937& random) {
    wake_for_steps();
    while (!ready_.empty()) {
      std::swap(ready_[random() % ready_.size()], ready_.back());
      const Event event = ready_.back();
      ready_.pop_back();
      event.task < 0 ? begin(event.rank) : perform(event.rank, event.task, random);
      if (testing::Test::HasFailure()) return;
    }
  }

  void expect_all_done() const {
    for (const Rank& rank : ranks_) {
      EXPECT_EQ(rank.finished, steps()) << "rank " << &rank - ranks_.data() << " waits for ever";
    }
    for (const int count : seen_) EXPECT_EQ(count, micro_batches());
    for (const Link& one : links_) {
      EXPECT_TRUE(one.sent.empty() && one.due.empty()) << "messages are under way after a meeting";
    }
  }

  // By how many steps the first stage was ahead of the last.
  int most_ahead() const { return most_ahead_; }

 private:
  static constexpr int kBegin = -1;
  struct Event {
    int rank;
    int task;
  };
  // A micro-batch of a step.
  struct Value {
    int step;
    int index;  // in the batch

    friend bool operator==(const Value&, const Value&) = default;
  };
  static constexpr Value kNothing{-1, -1};
  using Slots = std::vector<Value>;  // [micro-batch]
  // The end of a link: a message that is sent, or a receive.
  struct Sent {
    Value value;
    int lane;
  };
  struct Due {
    int step;
    int micro_batch;
  };
  struct Link {
    std::deque<Sent> sent;
    std::deque<Due> due;
  };
  struct LaneSend {
    bool under_way = false;
    int next = -1;  // the task that waits for it
  };
  struct Rank {
    StepTasks step{};
    std::vector<std::vector<std::size_t>> followers{};
    std::vector<HandOver> receives{};
    std::array<Slots, 2> came{};     // [step % 2]
    std::map<int, int> receiving{};  // task that waits for a micro-batch
    std::vector<LaneSend> sends{};   // [lane]
    std::vector<std::size_t> waiting{};
    std::size_t left = 0;
    std::size_t started = 0;  // receives of the next step
    int finished = 0;         // steps
    bool begins = false;      // its next step
  };

  int steps() const { return static_cast<int>(meets_.size()); }
  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  Link& link(int from, int to) {
    return links_[static_cast<std::size_t>(from * stages_.total() + to)];
  }

  int micro_batches() const {
    int count = 0;
    for (const int rank : stages_.members(0)) {
      for (const int lane : layout_.ranks[static_cast<std::size_t>(rank)].lanes) count += lane;
    }
    return count;
  }

  // Ranks between two steps, which may begin the next now.
  void wake_for_steps() {
    const int known = std::ranges::min_element(ranks_, {}, &Rank::finished)->finished;
    for (int rank = 0; rank < stages_.total(); ++rank) {
      Rank& one = at(rank);
      const int next = one.finished;
      if (one.left > 0 || one.begins || next == steps()) continue;
      const bool met = next > 0 && meets_[static_cast<std::size_t>(next - 1)];
      if (known < (met ? next : next - stages_.count())) continue;
      one.begins = true;
      ready_.push_back({rank, kBegin});
    }
  }

  void begin(int rank) {
    Rank& one = at(rank);
    one.begins = false;
    one.left = one.step.tasks.size();
    one.waiting.resize(one.left);
    start_receives(rank, one.finished, one.receives.size());
    one.started = 0;
    if (stages_.stage_of(rank) == 0) {
      most_ahead_ = std::max(most_ahead_, one.finished - ranks_.back().finished);
    }
    for (std::size_t t = 0; t < one.waiting.size(); ++t) {
      one.waiting[t] = one.step.tasks[t].after.size();
      if (one.waiting[t] == 0) make_ready(rank, t);
    }
  }

  void start_receives(int rank, int step, std::size_t end) {
    Rank& one = at(rank);
    for (; one.started < end; ++one.started) {
      const HandOver& over = one.receives[one.started];
      link(over.peer, rank).due.push_back({step, over.micro_batch});
      deliver(over.peer, rank);
    }
  }

  void make_ready(int rank, std::size_t t) {
    Rank& one = at(rank);
    const Task& task = one.step.tasks[t];
    const int index = static_cast<int>(t);
    if (task.kind == Task::Kind::kReceive &&
        slot(rank, one.finished, task.micro_batch).step != one.finished) {
      one.receiving[task.micro_batch] = index;
      return;
    }
    if (task.kind == Task::Kind::kSend && lane_of(rank, task).under_way) {
      lane_of(rank, task).next = index;
      return;
    }
    ready_.push_back({rank, index});
  }

  Value& slot(int rank, int step, int micro_batch) {
    return at(rank).came[static_cast<std::size_t>(step % 2)][static_cast<std::size_t>(micro_batch)];
  }
  LaneSend& lane_of(int rank, const Task& task) {
    return at(rank).sends[static_cast<std::size_t>(task.lane)];
  }

  void perform(int rank, int t, std::mt19937& random) {
    Rank& one = at(rank);
    const Task& task = one.step.tasks[static_cast<std::size_t>(t)];
    if (task.kind == Task::Kind::kBind) bind(rank, task.micro_batch);
    if (task.kind == Task::Kind::kSend) send(rank, task);
    if (task.kind == Task::Kind::kExpect && !meets_[static_cast<std::size_t>(one.finished)]) {
      start_receives(rank, one.finished + 1, random() % (one.receives.size() + 1));
    }
    --one.left;
    for (const std::size_t f : one.followers[static_cast<std::size_t>(t)]) {
      if (--one.waiting[f] == 0) make_ready(rank, f);
    }
    if (one.left > 0) return;
    expect_values(rank);
    ++one.finished;
    wake_for_steps();
  }

  void bind(int rank, int micro_batch) {
    const auto stage = static_cast<std::size_t>(stages_.stage_of(rank));
    const auto step = static_cast<std::size_t>(at(rank).finished);
    ++seen_[step * static_cast<std::size_t>(stages_.count()) + stage];
    if (stage > 0) {
      EXPECT_EQ(slot(rank, at(rank).finished, micro_batch).index, in_batch(rank, micro_batch))
          << "rank " << rank << " takes a micro-batch for another";
    }
  }

  // The values that a rank received for its step are there until the end.
  void expect_values(int rank) {
    Rank& one = at(rank);
    for (const HandOver& over : one.receives) {
      const Value due{one.finished, in_batch(rank, over.micro_batch)};
      EXPECT_EQ(slot(rank, one.finished, over.micro_batch), due)
          << "values of a step are overwritten on rank " << rank;
    }
  }

  void send(int rank, const Task& task) {
    lane_of(rank, task).under_way = true;
    const Value value{at(rank).finished, in_batch(rank, task.micro_batch)};
    link(rank, task.peer).sent.push_back({value, task.lane});
    deliver(rank, task.peer);
  }

  void deliver(int from, int to) {
    Link& on = link(from, to);
    while (!on.sent.empty() && !on.due.empty()) {
      const Sent sent = on.sent.front();
      const Due due = on.due.front();
      on.sent.pop_front();
      on.due.pop_front();
      EXPECT_EQ(sent.value.step, due.step) << "rank " << to << " takes a step for another";
      slot(to, due.step, due.micro_batch) = sent.value;
      Rank& receiver = at(to);
      const auto waits = receiver.receiving.find(due.micro_batch);
      if (due.step == receiver.finished && waits != receiver.receiving.end()) {
        ready_.push_back({to, waits->second});
        receiver.receiving.erase(waits);
      }
      LaneSend& lane = at(from).sends[static_cast<std::size_t>(sent.lane)];
      lane.under_way = false;
      if (lane.next >= 0) ready_.push_back({from, std::exchange(lane.next, -1)});
    }
  }

  int in_batch(int rank, int micro_batch) const {
    for (int r = stages_.first_rank(stages_.stage_of(rank)); r < rank; ++r) {
      for (const int count : layout_.ranks[static_cast<std::size_t>(r)].lanes) micro_batch += count;
    }
    return micro_batch;
  }

  const Layout& layout_;
  const RankStages stages_;
  const Meetings meets_;
  std::vector<Rank> ranks_;
  std::vector<Link> links_;
  std::vector<Event> ready_;
  std::vector<int> seen_;  // micro-batches of each step and stage
  int most_ahead_ = 0;
};

// Orders of events to try: WINNOW_EVENT_ORDERS, or few enough for every run of the tests. A million
// take some minutes.
int orders_to_try() {
  const char* const given = std::getenv("WINNOW_EVENT_ORDERS");
  return given == nullptr ? 500 : std::atoi(given);
}

TEST(HandOvers, NoOrderOfEventsBlocksItOrMixesMicroBatches) {
  constexpr int kOrdersOfALayout = 10;
  constexpr int kSteps = 4;
  std::mt19937 random(5);
  int most_ahead = 0;
  for (int order = 0; order < orders_to_try();) {
    const Layout layout = random_layout(random);
    Meetings meets(kSteps, true);
    for (int step = 0; step + 1 < kSteps; ++step)
      meets[static_cast<std::size_t>(step)] = random() % 4 == 0;
    const Ranks begun(layout, meets);
    for (int i = 0; i < kOrdersOfALayout; ++i, ++order) {
      Ranks ranks = begun;
      ranks.run(random);
      ranks.expect_all_done();
      most_ahead = std::max(most_ahead, ranks.most_ahead());
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(most_ahead, 0) << "stages work on different steps";
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

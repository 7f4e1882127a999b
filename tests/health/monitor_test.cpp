#include "common/health/monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "common/health/join.h"
#include "common/health/message.h"
#include "common/health/udp_transport.h"
#include "common/health/watched_communicator.h"
#include "tests/common/thread_ranks.h"

namespace winnow::health::monitor_test {

using testing::HasSubstr;
using namespace std::chrono_literals;

// The reports of monitors and how they end, from any thread. Sinks may outlive it: a thread that
// reports is left behind if the machine is too busy to end it in time.
class Records {
 public:
  MonitorSinks sinks() const {
    return {.adding_seconds = {},
            .say =
                [all = all_](const Sentence& s) {
                  const std::lock_guard lock(all->mutex);
                  if (s.to_people) all->said.push_back(s.text);
                },
            .end_process =
                [all = all_](int code) {
                  const std::lock_guard lock(all->mutex);
                  all->ended.push_back(code);
                }};
  }
  std::vector<std::string> said() const {
    const std::lock_guard lock(all_->mutex);
    return all_->said;
  }
  std::vector<int> ended() const {
    const std::lock_guard lock(all_->mutex);
    return all_->ended;
  }
  bool has(const std::string& part) const {
    return std::ranges::any_of(
        said(), [&](const std::string& s) { return s.find(part) != std::string::npos; });
  }

 private:
  struct All {
    std::mutex mutex;
    std::vector<std::string> said;
    std::vector<int> ended;
  };
  std::shared_ptr<All> all_ = std::make_shared<All>();
};

// Waits until `condition` holds; on a busy machine that may take minutes.
bool comes_true(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + 3min;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

// Simulated time, which advances when a test says so. For any thread.
class Simulated {
 public:
  void pass(std::chrono::milliseconds time) { now_ += time.count(); }
  std::function<Board::Clock::time_point()> clock() const {
    return [this] { return Board::Clock::time_point(std::chrono::milliseconds(now_)); };
  }

 private:
  std::atomic<std::int64_t> now_ = 0;
};

// Forwards to another transport and counts what the monitor does.
class Counted final : public Transport {
 public:
  struct Counts {
    std::atomic<int> beats = 0;      // sent to all ranks; then it waits for the next beat
    std::atomic<int> confirmed = 0;  // messages of ranks that were heard
  };
  Counted(std::unique_ptr<Transport> by, int ranks, Counts& counts)
      : by_(std::move(by)), last_(ranks - 1), counts_(counts) {}

  void send(int rank, BytesView message, bool everywhere) noexcept override {
    by_->send(rank, message, everywhere);
    if (rank == last_) sent_ = true;
  }
  bool probe(int rank) noexcept override { return by_->probe(rank); }
  std::vector<Heard> receive(std::chrono::milliseconds patience) override {
    if (patience > 0ms && std::exchange(sent_, false)) ++counts_.beats;
    return by_->receive(patience);
  }
  void confirm(int rank, Address from) noexcept override {
    by_->confirm(rank, from);
    ++counts_.confirmed;
  }
  void wake() noexcept override { by_->wake(); }

 private:
  const std::unique_ptr<Transport> by_;
  const int last_;
  Counts& counts_;
  bool sent_ = false;
};

std::vector<Circle> circles_of(int ranks) {
  std::vector<Circle> circles(static_cast<std::size_t>(ranks));
  test::ThreadRanks threads(ranks, std::vector<int>(static_cast<std::size_t>(ranks), 0));
  threads.run([&](comm::Communicator& comm) {
    circles[static_cast<std::size_t>(comm.rank())] = join(comm);
  });
  return circles;
}

TEST(Join, AllRanksHaveOneSecretAndAreMembers) {
  const std::vector<Circle> circles = circles_of(3);
  for (const Circle& circle : circles) {
    EXPECT_EQ(circle.secret, circles[0].secret);
    EXPECT_TRUE(circle.transport);
    ASSERT_EQ(circle.members.size(), 3U);
    EXPECT_FALSE(circle.members[2].host.empty());
  }
  EXPECT_NE(circles_of(2)[0].secret, circles[0].secret);
}

TEST(Join, OneRankAloneHasNoTransport) {
  const std::unique_ptr<comm::Communicator> alone = comm::make_single();
  const Circle circle = join(*alone);
  EXPECT_FALSE(circle.transport);
  EXPECT_EQ(circle.members.size(), 1U);
}

// Three ranks in this process. Rank 1 says something, falls silent and finally leaves.
TEST(Monitor, NamesARankThatFallsSilentAndEnds) {
  std::vector<Circle> circles = circles_of(3);
  const Limits limits{.stall_s = 5, .hang_s = 8};
  Board boards[3];
  const Records records;
  Simulated time;
  std::array<Counted::Counts, 3> counts;
  std::vector<std::unique_ptr<Monitor>> monitors;
  for (const int r : {0, 2}) {
    const auto i = static_cast<std::size_t>(r);
    boards[r].begin_step(5);
    boards[r].begin_collective();
    monitors.push_back(std::make_unique<Monitor>(
        Pulse(r, circles[i].members, circles[i].secret, limits),
        std::make_unique<Counted>(std::move(circles[i].transport), 3, counts[i]), boards[r],
        records.sinks(), time.clock()));
  }
  const auto both_beat = [&] {
    const int zero = counts[0].beats;
    const int two = counts[2].beats;
    time.pass(1s);
    return comes_true([&] { return counts[0].beats > zero && counts[2].beats > two; });
  };
  const Board::Waiting zero(boards[0], Wait::kGradients);
  const Board::Waiting two(boards[2], Wait::kGradients);
  Pulse one(1, circles[1].members, circles[1].secret, limits);
  const Status status{.stage = Stage::kBackward, .bucket = 3, .step = 5};
  for (const int to : {0, 2}) {
    circles[1].transport->send(to, one.beat(status, 0, 0).message, true);
  }
  ASSERT_TRUE(comes_true([&] { return both_beat() && records.has("rank 1"); }));
  EXPECT_TRUE(records.has("last seen in step 5, backward, bucket 3: its process is frozen"))
      << records.said().front();
  circles[1].transport.reset();
  ASSERT_TRUE(comes_true([&] { return both_beat() && records.ended().size() >= 2; }));
  EXPECT_EQ(records.ended().front(), 1);
}

// A transport that needs longer to send than the time between two heartbeats.
class SlowTransport final : public Transport {
 public:
  struct Log {
    std::atomic<int> beats = 0;
    // Beats sent before everything that had arrived was received
    std::atomic<int> beats_unheard = 0;
  };
  SlowTransport(Simulated& time, Log& log) : time_(time), log_(log) {}

  void send(int rank, BytesView, bool) noexcept override {
    if (rank != 0) return;
    ++log_.beats;
    if (!std::exchange(took_all_, false)) ++log_.beats_unheard;
    time_.pass(1200ms);
  }
  bool probe(int) noexcept override { return true; }
  std::vector<Heard> receive(std::chrono::milliseconds patience) override {
    took_all_ = patience == 0ms;  // after a wait, the machine may also delay the thread
    time_.pass(patience);
    return {};
  }
  void confirm(int, Address) noexcept override {}
  void wake() noexcept override {}

 private:
  Simulated& time_;
  Log& log_;
  bool took_all_ = false;
};

TEST(Monitor, ListensBeforeItJudgesHoweverLateItIs) {
  const Board board;
  const Records records;
  Simulated time;
  SlowTransport::Log log;
  const Monitor monitor(Pulse(1, {{"h1", 0}, {"h2", 1}}, {}, {}),
                        std::make_unique<SlowTransport>(time, log), board, records.sinks(),
                        time.clock());
  ASSERT_TRUE(comes_true([&] { return log.beats >= 4; }));
  EXPECT_EQ(log.beats_unheard, 0);
}

// Threads that share one core, each of which would use all of it.
class Crowd {
 public:
  explicit Crowd(int threads) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    ::sched_getaffinity(0, sizeof(allowed), &allowed);
    int core = 0;
    while (!CPU_ISSET(core, &allowed)) ++core;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    for (int t = 0; t < threads; ++t) {
      threads_.emplace_back([this, one] {
        ::sched_setaffinity(0, sizeof(one), &one);
        while (!over_) {
        }
      });
    }
  }
  ~Crowd() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

 private:
  std::atomic<bool> over_ = false;
  std::vector<std::thread> threads_;
};

TEST(Monitor, TellsHowManyCoresItsThreadsWaitFor) {
  const bool system_says = std::ifstream("/proc/self/schedstat").good();
  std::vector<Circle> circles = circles_of(2);
  const Board board;
  const Records records;
  const Crowd crowd(4);
  const Monitor monitor(Pulse(0, circles[0].members, circles[0].secret, {}),
                        std::move(circles[0].transport), board, records.sinks());
  EXPECT_TRUE(comes_true([&] {
    return std::ranges::any_of(circles[1].transport->receive(100ms), [&](const Heard& heard) {
      const std::optional<Status> told = decode(heard.bytes, circles[1].secret, 2);
      if (!told) return false;
      return system_says ? told->delayed > 2 && told->delayed > told->cpu : told->delayed == 0;
    });
  }));
}

// After its last message, rank 0 misses nobody, however long it continues.
TEST(Monitor, ALeavingRankIsNotMissed) {
  std::vector<Circle> circles = circles_of(2);
  const Limits limits{.stall_s = 1};
  Pulse zero(0, circles[0].members, circles[0].secret, limits);
  Board board;
  const Records records;
  const Simulated time;  // no time passes
  board.begin_step(1);
  board.mark(Stage::kForward);  // for as long as it likes
  auto one = std::make_unique<Monitor>(Pulse(1, circles[1].members, circles[1].secret, limits),
                                       std::move(circles[1].transport), board, records.sinks(),
                                       time.clock());
  int heard = 0;
  const auto hear = [&] {
    for (const Heard& what : circles[0].transport->receive(100ms)) {
      heard += zero.hear(what, 0) == 1 ? 1 : 0;
    }
    return heard >= 1;
  };
  ASSERT_TRUE(comes_true(hear));
  EXPECT_TRUE(zero.beat({.stage = Stage::kForward, .step = 1}, 0, 0.5).sentences.empty());
  one.reset();
  const int before = heard;
  ASSERT_TRUE(comes_true([&] { return hear() && heard > before; }));
  for (double now = 1; now < 100; ++now) {
    const Beat beat = zero.beat({.stage = Stage::kForward, .step = 1}, 0, now);
    ASSERT_TRUE(beat.sentences.empty()) << beat.sentences.front().text;
    ASSERT_FALSE(beat.exit_code);
  }
  EXPECT_THAT(records.said(), testing::IsEmpty());
}

// A launcher that ends all ranks because one has gone gives them a second.
TEST(Monitor, AskedToStopItSaysAtOnceWhoIsGone) {
  std::vector<Circle> circles = circles_of(2);
  Board board;
  board.begin_step(5);
  const Records records;
  Simulated time;
  Counted::Counts counts;
  std::atomic<bool> stop = false;
  MonitorSinks sinks = records.sinks();
  sinks.stop = [&] { return stop.load(); };
  const Monitor zero(Pulse(0, circles[0].members, circles[0].secret, {}),
                     std::make_unique<Counted>(std::move(circles[0].transport), 2, counts), board,
                     std::move(sinks), time.clock());
  Pulse one(1, circles[1].members, circles[1].secret, {});
  circles[1].transport->send(0, one.beat({.stage = Stage::kForward, .step = 5}, 0, 0).message,
                             true);
  ASSERT_TRUE(comes_true([&] { return counts.confirmed > 0; }));  // it knows the address
  circles[1].transport.reset();
  time.pass(100ms);  // less than the time between two heartbeats
  stop = true;
  ASSERT_TRUE(comes_true([&] { return records.has("rank 1"); }));
  EXPECT_TRUE(records.has("is gone, last seen in step 5, forward")) << records.said().front();
}

// A terminal or disk that accepts nothing until it is released, and the results.
struct Held {
  std::atomic<bool> let_go = false;
  std::atomic<int> told = 0;
  std::atomic<int> ended = 0;

  void wait() const { let_go.wait(false); }
  void release() {
    let_go = true;
    let_go.notify_all();
  }
};

// A blocked terminal delays neither heartbeats nor the end.
TEST(Monitor, EndsThoughNobodyReadsWhatItSays) {
  Board board;
  board.begin_step(3);
  Simulated time;
  const auto held = std::make_shared<Held>();  // shared, because a thread may be left behind
  {
    MonitorSinks sinks{.adding_seconds = {},
                       .say = [held](const Sentence&) { held->wait(); },
                       .end_process = [held](int code) { held->ended = code; }};
    const Monitor monitor(Pulse(0, {{"h1", 0}}, {}, {.stall_s = 1, .hang_s = 2}), nullptr, board,
                          std::move(sinks), time.clock());
    EXPECT_TRUE(comes_true([&] {
      time.pass(1s);
      return held->ended == 1;
    }));
    held->release();
  }
}

TEST(Monitor, ALogOnADiskThatHangsKeepsNothingFromPeople) {
  Board board;
  board.begin_step(3);
  Simulated time;
  const auto held = std::make_shared<Held>();
  {
    MonitorSinks sinks{.adding_seconds = {},
                       .say =
                           [held](const Sentence& sentence) {
                             if (sentence.to_log) held->wait();
                             if (sentence.to_people) ++held->told;
                           },
                       .end_process = [](int) {}};
    const Monitor monitor(Pulse(0, {{"h1", 0}}, {}, {.stall_s = 1, .hang_s = 0}), nullptr, board,
                          std::move(sinks), time.clock());
    EXPECT_TRUE(comes_true([&] {
      time.pass(1s);
      return held->told >= 2;
    }));
    held->release();
  }
}

TEST(Board, KnowsWhereARankIsAndWhatItWaitsFor) {
  Board board;
  EXPECT_EQ(board.read().stage, Stage::kStarting);
  board.begin_step(17);
  EXPECT_TRUE(board.read().is_first_step);
  board.mark(Stage::kBackward, 3);
  Status status = board.read();
  EXPECT_EQ(in_words(status), "step 17, backward, bucket 3");
  EXPECT_EQ(status.marks, 2U);
  {
    const Board::Waiting waiting(board, Wait::kGradients);
    const Board::Waiting data(board, Wait::kNone);
    status = board.read();
    EXPECT_EQ(status.wait, Wait::kGradients);
    EXPECT_TRUE(status.awaits_data);
  }
  status = board.read();
  EXPECT_EQ(status.wait, Wait::kNone);
  EXPECT_FALSE(status.awaits_data);
  board.mark(Stage::kBackward, 1'000'000);
  EXPECT_EQ(board.read().bucket, 0xFFFF);
}

// A board with simulated time.
struct Timed {
  Board::Clock::time_point now{};
  Board board{[this] { return now; }};

  void step(std::chrono::milliseconds work, std::chrono::milliseconds wait = 0ms,
            double batch_wait_s = 0) {
    board.begin_step(1);
    now += work;
    {
      const Board::Waiting waiting(board, Wait::kGradients);
      now += wait;
    }
    board.end_step(batch_wait_s);
  }
  StepSeconds seconds() const { return board.read().seconds; }
};

TEST(Board, TypicalStepsLeaveOutTheFirst) {
  Timed timed;
  timed.step(50ms, 0ms, 0.01);
  EXPECT_EQ(timed.seconds(), StepSeconds{});
  timed.step(30ms, 20ms, 0.02);
  const StepSeconds seconds = timed.seconds();
  EXPECT_FLOAT_EQ(seconds.step, 0.05F);
  EXPECT_FLOAT_EQ(seconds.batch, 0.01F);
  EXPECT_FLOAT_EQ(seconds.work, 0.02F);  // neither the batch nor the gradients
}

// Otherwise a wait after a delayed step would be reported too late.
TEST(Board, AStepThatWasHeldUpIsNotTypical) {
  Timed timed;
  for (int i = 0; i < 5; ++i) timed.step(10ms);
  EXPECT_FLOAT_EQ(timed.seconds().step, 0.01F);
  timed.step(1000ms);
  EXPECT_FLOAT_EQ(timed.seconds().step, 0.01F);
}

// This also holds for one of the first steps: a rank that was frozen in its second step is not
// slow.
TEST(Board, TheFirstStepThatCountsMayBeHeldUp) {
  Timed timed;
  for (const auto takes : {10ms, 1000ms, 10ms}) timed.step(takes);
  EXPECT_FLOAT_EQ(timed.seconds().step, 0.01F);
  EXPECT_FLOAT_EQ(timed.seconds().work, 0.01F);
}

// A watched communicator does the same as the one it wraps.
TEST(WatchedCommunicator, CountsAndMarksCollectives) {
  test::ThreadRanks ranks(2);
  std::array<Board, 2> boards;
  ranks.run([&](comm::Communicator& comm) {
    Board& board = boards[static_cast<std::size_t>(comm.rank())];
    WatchedCommunicator watched(comm, board);
    EXPECT_EQ(watched.size(), 2);
    std::array<double, 1> sum{1.0 + comm.rank()};
    watched.all_reduce(sum);
    EXPECT_EQ(sum[0], 3);
    EXPECT_EQ(comm::broadcast(watched, 5 + comm.rank(), 1), 6);
    watched.barrier();
    std::vector<float> values(10, 1);
    comm::Pending pending = watched.start_all_reduce(std::span(values), {});
    pending.wait();
    EXPECT_EQ(values[9], 2);
    EXPECT_EQ(board.read().collectives, 4U);
    EXPECT_EQ(board.read().exchanges, 0U);
    const std::array<std::size_t, 3> offsets{0, 4, 8};
    const std::array<int, 2> out{10 * comm.rank(), 10 * comm.rank() + 1};
    std::array<int, 2> in{};
    watched
        .start_all_to_all(std::as_bytes(std::span(out)), offsets,
                          std::as_writable_bytes(std::span(in)), offsets, {})
        .wait();
    EXPECT_EQ(in, (std::array<int, 2>{comm.rank(), 10 + comm.rank()}));
    EXPECT_EQ(board.read().exchanges, 1U);
    EXPECT_EQ(board.read().wait, Wait::kNone);
    EXPECT_FALSE(board.read().awaits_data);
  });
}

}  // namespace winnow::health::monitor_test

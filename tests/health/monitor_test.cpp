#include "common/health/monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "common/health/join.h"
#include "common/health/message.h"
#include "common/health/udp_transport.h"
#include "common/health/watched_communicator.h"
#include "tests/common/thread_ranks.h"

namespace winnow::health {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

// What monitors say and end with, from any thread.
struct Records {
  std::mutex mutex;
  std::vector<std::string> said;
  std::vector<int> ended;

  MonitorSinks sinks() {
    return {.adding_seconds = {},
            .say =
                [this](const Sentence& s) {
                  const std::lock_guard lock(mutex);
                  if (s.to_people) said.push_back(s.text);
                },
            .end_process =
                [this](int code) {
                  const std::lock_guard lock(mutex);
                  ended.push_back(code);
                }};
  }
  bool has(const std::string& part) {
    const std::lock_guard lock(mutex);
    return std::ranges::any_of(
        said, [&](const std::string& s) { return s.find(part) != std::string::npos; });
  }
};

bool within(std::chrono::seconds patience, const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(20ms);
  }
  return true;
}

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

// Three ranks of this process; rank 1 says something and then nothing more, and at last is gone.
TEST(Monitor, NamesARankThatFallsSilentAndEnds) {
  std::vector<Circle> circles = circles_of(3);
  const Limits limits{.stall_s = 5, .hang_s = 8};
  Board boards[3];
  Records records;
  std::vector<std::unique_ptr<Monitor>> monitors;
  for (const int r : {0, 2}) {
    const auto i = static_cast<std::size_t>(r);
    boards[r].begin_step(5);
    boards[r].begin_collective();
    monitors.push_back(
        std::make_unique<Monitor>(Pulse(r, circles[i].members, circles[i].secret, limits),
                                  std::move(circles[i].transport), boards[r], records.sinks()));
  }
  const Board::Waiting zero(boards[0], Wait::kGradients);
  const Board::Waiting two(boards[2], Wait::kGradients);
  Pulse one(1, circles[1].members, circles[1].secret, limits);
  const Status status{.stage = Stage::kBackward, .bucket = 3, .step = 5};
  for (const int to : {0, 2}) {
    circles[1].transport->send(to, one.beat(status, 0, 0).message, true);
  }
  ASSERT_TRUE(within(60s, [&] { return records.has("rank 1"); }));
  EXPECT_TRUE(records.has("last seen in step 5, backward, bucket 3: its process is frozen"))
      << records.said.front();
  circles[1].transport.reset();
  ASSERT_TRUE(within(60s, [&] {
    const std::lock_guard lock(records.mutex);
    return records.ended.size() >= 2;
  }));
  EXPECT_EQ(records.ended.front(), 1);
}

// It takes longer to send than there is between two heartbeats.
class SlowTransport final : public Transport {
 public:
  struct Log {
    std::atomic<int> beats = 0;
    std::atomic<int> beats_unheard = 0;  // without having listened since the one before
  };
  explicit SlowTransport(Log& log) : log_(log) {}

  void send(int rank, BytesView, bool) noexcept override {
    if (rank != 0) return;
    ++log_.beats;
    if (!std::exchange(listened_, false)) ++log_.beats_unheard;
    std::this_thread::sleep_for(1200ms);
  }
  bool probe(int) noexcept override { return true; }
  std::vector<Heard> receive(std::chrono::milliseconds patience) override {
    listened_ = true;
    std::this_thread::sleep_for(patience);
    return {};
  }
  void confirm(int, Address) noexcept override {}
  void wake() noexcept override {}

 private:
  Log& log_;
  bool listened_ = false;
};

TEST(Monitor, ListensBeforeItJudgesHoweverLateItIs) {
  Board board;
  Records records;
  SlowTransport::Log log;
  {
    const Monitor monitor(Pulse(1, {{"h1", 0}, {"h2", 1}}, {}, {}),
                          std::make_unique<SlowTransport>(log), board, records.sinks());
    ASSERT_TRUE(within(60s, [&] { return log.beats >= 4; }));
    EXPECT_EQ(log.beats_unheard, 0);
  }
}

// Threads that share one core, and would use all of it each.
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
  Records records;
  const Crowd crowd(4);
  const Monitor monitor(Pulse(0, circles[0].members, circles[0].secret, {}),
                        std::move(circles[0].transport), board, records.sinks());
  EXPECT_TRUE(within(60s, [&] {
    return std::ranges::any_of(circles[1].transport->receive(100ms), [&](const Heard& heard) {
      const std::optional<Status> told = decode(heard.bytes, circles[1].secret, 2);
      if (!told) return false;
      return system_says ? told->delayed > 2 && told->delayed > told->cpu : told->delayed == 0;
    });
  }));
}

// What it sends last; rank 0 misses nobody then, however long it goes on.
TEST(Monitor, ALeavingRankIsNotMissed) {
  std::vector<Circle> circles = circles_of(2);
  const Limits limits{.stall_s = 1};
  Pulse zero(0, circles[0].members, circles[0].secret, limits);
  Board board;
  Records records;
  board.begin_step(1);
  board.mark(Stage::kForward);  // for as long as it likes
  auto one = std::make_unique<Monitor>(Pulse(1, circles[1].members, circles[1].secret, limits),
                                       std::move(circles[1].transport), board, records.sinks());
  int heard = 0;
  const auto hear = [&] {
    for (const Heard& what : circles[0].transport->receive(100ms)) {
      heard += zero.hear(what, 0) == 1 ? 1 : 0;
    }
    return heard >= 1;
  };
  ASSERT_TRUE(within(60s, hear));
  EXPECT_TRUE(zero.beat({.stage = Stage::kForward, .step = 1}, 0, 0.5).sentences.empty());
  one.reset();
  const int before = heard;
  ASSERT_TRUE(within(60s, [&] { return hear() && heard > before; }));
  for (double now = 1; now < 100; ++now) {
    const Beat beat = zero.beat({.stage = Stage::kForward, .step = 1}, 0, now);
    ASSERT_TRUE(beat.sentences.empty()) << beat.sentences.front().text;
    ASSERT_FALSE(beat.exit_code);
  }
  EXPECT_TRUE(records.said.empty()) << records.said.front();
}

// A launcher that ends all ranks since one is gone leaves them a second.
TEST(Monitor, AskedToStopItSaysAtOnceWhoIsGone) {
  std::vector<Circle> circles = circles_of(2);
  Board board;
  board.begin_step(5);
  Records records;
  std::atomic<bool> stop = false;
  MonitorSinks sinks = records.sinks();
  sinks.stop = [&] { return stop.load(); };
  const Monitor zero(Pulse(0, circles[0].members, circles[0].secret, {}),
                     std::move(circles[0].transport), board, std::move(sinks));
  Pulse one(1, circles[1].members, circles[1].secret, {});
  circles[1].transport->send(0, one.beat({.stage = Stage::kForward, .step = 5}, 0, 0).message,
                             true);
  // Its second beat comes after it has heard that, so that the address is known.
  int beats = 0;
  ASSERT_TRUE(within(60s, [&] {
    for (const Heard& heard : circles[1].transport->receive(100ms)) {
      beats += one.hear(heard, 0) == 0 ? 1 : 0;
    }
    return beats >= 3;
  }));
  circles[1].transport.reset();
  stop = true;
  ASSERT_TRUE(within(60s, [&] { return records.has("rank 1"); }));
  EXPECT_TRUE(records.has("is gone, last seen in step 5, forward")) << records.said.front();
}

// What holds up people's terminal holds up no heartbeat and no end.
TEST(Monitor, EndsThoughNobodyReadsWhatItSays) {
  Board board;
  board.begin_step(3);
  std::atomic<bool> let_go = false;
  std::atomic<int> ended = 0;
  {
    MonitorSinks sinks{.adding_seconds = {},
                       .say =
                           [&](const Sentence&) {
                             while (!let_go) std::this_thread::sleep_for(10ms);
                           },
                       .end_process = [&](int code) { ended = code; }};
    const Monitor monitor(Pulse(0, {{"h1", 0}}, {}, {.stall_s = 1, .hang_s = 2}), nullptr, board,
                          std::move(sinks));
    EXPECT_TRUE(within(60s, [&] { return ended == 1; }));
    let_go = true;
  }
}

TEST(Monitor, ALogOnADiskThatHangsKeepsNothingFromPeople) {
  Board board;
  board.begin_step(3);
  std::atomic<bool> let_go = false;
  std::atomic<int> told = 0;
  {
    MonitorSinks sinks{.adding_seconds = {},
                       .say =
                           [&](const Sentence& sentence) {
                             while (sentence.to_log && !let_go) std::this_thread::sleep_for(10ms);
                             if (sentence.to_people) ++told;
                           },
                       .end_process = [](int) {}};
    const Monitor monitor(Pulse(0, {{"h1", 0}}, {}, {.stall_s = 1, .hang_s = 0}), nullptr, board,
                          std::move(sinks));
    EXPECT_TRUE(within(60s, [&] { return told >= 2; }));
    let_go = true;
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

// A board whose time goes by where a test says so.
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

// Or the wait after one would be told too late.
TEST(Board, AStepThatWasHeldUpIsNotTypical) {
  Timed timed;
  for (int i = 0; i < 5; ++i) timed.step(10ms);
  EXPECT_FLOAT_EQ(timed.seconds().step, 0.01F);
  timed.step(1000ms);
  EXPECT_FLOAT_EQ(timed.seconds().step, 0.01F);
}

// Nor one of the first: a rank that was frozen in its second step is not slow.
TEST(Board, TheFirstStepThatCountsMayBeHeldUp) {
  Timed timed;
  for (const auto takes : {10ms, 1000ms, 10ms}) timed.step(takes);
  EXPECT_FLOAT_EQ(timed.seconds().step, 0.01F);
  EXPECT_FLOAT_EQ(timed.seconds().work, 0.01F);
}

// A watched communicator does what the other does.
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

}  // namespace
}  // namespace winnow::health

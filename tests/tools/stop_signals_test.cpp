#include "tools/stop_signals.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <latch>
#include <string>
#include <thread>
#include <vector>

namespace winnow::tools::stop_signals_test {

using namespace std::chrono_literals;
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGUSR1, SIGHUP};
// A background job of a shell would inherit that the signal is ignored.
[[maybe_unused]] const auto kBefore = ::signal(SIGINT, SIG_DFL);

[[noreturn]] void wait_for_the_end() {
  for (;;) std::this_thread::sleep_for(10ms);
}

// How many of these signals a thread of this process blocks; -1: unknown.
int blocked_by(const std::filesystem::path& task) {
  std::ifstream status(task / "status");
  for (std::string word; status >> word;) {
    if (word != "SigBlk:") continue;
    status >> word;
    const unsigned long long mask = std::stoull(word, nullptr, 16);
    int blocked = 0;
    for (const int number : kSignals) blocked += static_cast<int>(mask >> (number - 1) & 1);
    return blocked;
  }
  return -1;
}

// A test clock, which is read once for each signal taken.
std::atomic<std::int64_t> now_ms{0};
std::atomic<int> looks{0};
std::int64_t test_clock() noexcept {
  const std::int64_t now = now_ms;
  ++looks;
  return now;
}
void wait_for_look(int number) {
  while (looks < number) std::this_thread::sleep_for(1ms);
}

// Signals are taken one after another: once a signal of another kind is taken, earlier ones are
// done.
int other_than(int number) { return number == SIGUSR1 ? SIGTERM : SIGUSR1; }

// Each case runs in a child, because it changes the process.
TEST(StopSignalsDeathTest, WhereNothingIsToFinishTheFirstEndsIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int number : kSignals) {
    EXPECT_EXIT(
        {
          stop_on_signals(false);
          ::kill(::getpid(), number);
          wait_for_the_end();
        },
        testing::ExitedWithCode(75), "stopped before the end; run the same command again");
  }
}

TEST(StopSignalsDeathTest, ASecondOneOfItsKindEndsItAsThatSignalDoes) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int number : kSignals) {
    EXPECT_EXIT(
        {
          stop_on_signals(true, &test_clock);
          ::kill(::getpid(), number);
          wait_for_look(1);
          now_ms = 1001;
          ::kill(::getpid(), number);
          wait_for_look(2);
          ::kill(::getpid(), other_than(number));
          wait_for_look(3);
          std::_Exit(0);
        },
        testing::KilledBySignal(number), "");
  }
}

TEST(StopSignalsDeathTest, OnesOfAKindWithinASecondAreOne) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int number : kSignals) {
    EXPECT_EXIT(
        {
          stop_on_signals(true, &test_clock);
          ::kill(::getpid(), number);
          wait_for_look(1);
          now_ms = 1000;
          ::kill(::getpid(), number);
          wait_for_look(2);
          ::kill(::getpid(), other_than(number));
          wait_for_look(3);
          std::_Exit(stop_requested() ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
  }
}

TEST(StopSignalsDeathTest, OneThatIsIgnoredStaysIgnored) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::signal(SIGINT, SIG_IGN);
        stop_on_signals(true);
        struct sigaction now {};
        ::sigaction(SIGINT, nullptr, &now);
        std::_Exit(now.sa_handler == SIG_IGN ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

// Not even several kinds at once run on another thread: computing kernels may have no stack for a
// handler.
TEST(StopSignalsDeathTest, NoThreadButOneOfItsOwnTakesThem) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        stop_on_signals(true);
        std::atomic<bool> over = false;
        std::latch begun(5);
        std::vector<std::jthread> computing;
        for (int t = 0; t < 4; ++t) {
          computing.emplace_back([&] {
            begun.count_down();
            while (!over) std::this_thread::sleep_for(1ms);
          });
        }
        begun.arrive_and_wait();
        const std::string main = std::to_string(::getpid());
        int takers = 0;
        while (takers == 0) {  // until the thread that takes signals has started
          for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
            if (blocked_by(task.path()) == static_cast<int>(std::size(kSignals))) continue;
            takers += task.path().filename() == main ? 100 : 1;
          }
        }
        for (const int number : kSignals) ::kill(::getpid(), number);
        while (!stop_requested()) std::this_thread::sleep_for(1ms);
        over = true;
        computing.clear();
        std::_Exit(takers == 1 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(StopSignalsDeathTest, WhileThereIsNothingToFinishTheFirstEndsIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        stop_on_signals(true);
        const NothingToFinish nothing;
        ::kill(::getpid(), SIGTERM);
        wait_for_the_end();
      },
      testing::ExitedWithCode(75), "stopped before the end");
}

}  // namespace winnow::tools::stop_signals_test

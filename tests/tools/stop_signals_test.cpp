#include "tools/stop_signals.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace winnow::tools {
namespace {

using namespace std::chrono_literals;
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGUSR1};

[[noreturn]] void wait_for_the_end() {
  for (;;) std::this_thread::sleep_for(10ms);
}

// Of these signals, those that a thread of this process blocks.
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

// In children, as each leaves this process as it was.
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
          stop_on_signals(true);
          ::kill(::getpid(), number);
          while (!stop_requested()) std::this_thread::sleep_for(1ms);
          std::this_thread::sleep_for(1100ms);
          ::kill(::getpid(), number);
          wait_for_the_end();
        },
        testing::KilledBySignal(number), "");
  }
}

TEST(StopSignalsDeathTest, OneThatIsIgnoredStaysIgnored) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::signal(SIGINT, SIG_IGN);
        stop_on_signals(false);
        ::kill(::getpid(), SIGINT);
        std::this_thread::sleep_for(50ms);
        std::_Exit(stop_requested() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

// Not even where several kinds come at once: kernels that compute may have no stack for a handler.
TEST(StopSignalsDeathTest, NoThreadButOneOfItsOwnTakesThem) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        stop_on_signals(true);
        std::atomic<bool> over = false;
        std::vector<std::jthread> computing;
        for (int t = 0; t < 4; ++t) {
          computing.emplace_back([&] {
            while (!over) std::this_thread::sleep_for(1ms);
          });
        }
        const std::string main = std::to_string(::getpid());
        int all = 0;
        int takers = 0;
        for (int look = 0; look < 5000 && (all != 6 || takers != 1); ++look) {  // as all begin
          std::this_thread::sleep_for(1ms);
          all = takers = 0;
          for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
            const bool takes = blocked_by(task.path()) < 3;
            ++all;
            if (takes) takers += task.path().filename() == main ? 100 : 1;
          }
        }
        for (const int number : kSignals) ::kill(::getpid(), number);
        while (!stop_requested()) std::this_thread::sleep_for(1ms);
        over = true;
        computing.clear();
        std::_Exit(all == 6 && takers == 1 ? 0 : 1);
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

}  // namespace
}  // namespace winnow::tools

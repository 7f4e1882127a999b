#include "app/experiment/lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/experiment/lane_cards.h"
#include "common/error.h"
#include "common/file.h"
#include "tests/common/temporary_folder.h"

namespace winnow::app::lanes_test {

Child shell(const TemporaryFolder& folder, const std::string& script) {
  return {.words = {"/bin/sh", "-c", script}, .out = folder / "out", .error = folder / "error"};
}

TEST(RunChild, SaysHowItEndedAndWhatItPrinted) {
  const TemporaryFolder folder;
  const ChildEnd end = run_child(shell(folder, "echo result; echo why >&2; exit 3"), {});
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(read_text(folder / "out"), "result\n");
  EXPECT_EQ(read_text(folder / "error"), "why\n");
  EXPECT_EQ(run_child(shell(folder, "kill -9 $$"), {}).signal, SIGKILL);
  Child none = shell(folder, "");
  none.words = {"/no/such/program"};
  EXPECT_THROW(run_child(none, {}), SystemError);
}

TEST(RunChild, IsAskedToStop) {
  const TemporaryFolder folder;
  const ChildEnd end =
      run_child(shell(folder, "trap 'exit 75' TERM; touch " + (folder / "ready").string() +
                                  "; while :; do sleep 0.01; done"),
                [&] { return std::filesystem::exists(folder / "ready"); });
  EXPECT_EQ(end.exit_code, 75);
}

// This process may block signals to reserve them for a thread of its own.
TEST(RunChild, BlocksNoSignals) {
  const TemporaryFolder folder;
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  run_child(shell(folder, "grep SigBlk /proc/self/status"), {});
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(read_text(folder / "out"), "SigBlk:\t0000000000000000\n");
}

TEST(RunChild, HoldsItsClaimAlone) {
  const TemporaryFolder folder;
  JobQueue queue(folder / "queue", "x");
  const std::vector<std::string> jobs{"a", "b"};
  JobQueue::Next a = queue.claim_next(jobs);
  JobQueue::Next b = queue.claim_next(jobs);
  // The process that it leaves behind inherits its descriptors and runs as long as the folder
  // exists.
  Child child =
      shell(folder, "while [ -d '" + folder.path().string() + "' ]; do sleep 0.05; done &");
  child.keeps = a.claim->descriptor();
  run_child(child, {});
  a.claim.reset();
  b.claim.reset();
  const JobQueue::Next next = queue.claim_next(jobs);
  ASSERT_TRUE(next.claim);
  EXPECT_EQ(next.held, 1U);
  EXPECT_EQ(next.claim->job(), "b");
}

TEST(RunChild, HasVariablesInPlaceOfThisProcessS) {
  const TemporaryFolder folder;
  ::setenv("WINNOW_LANES_TEST", "outer", 1);
  ::setenv("WINNOW_LANES_TEST_TOO", "stays", 1);
  const Child child{.words = {"/bin/sh", "-c", "env | grep ^WINNOW_LANES_TEST | sort"},
                    .out = folder / "out",
                    .error = folder / "error",
                    .variables = {"WINNOW_LANES_TEST=inner"}};
  EXPECT_EQ(run_child(child, {}).exit_code, 0);
  EXPECT_EQ(read_text(folder / "out"), "WINNOW_LANES_TEST=inner\nWINNOW_LANES_TEST_TOO=stays\n");
}

TEST(LaneCards, AreThoseThatCudaSees) {
  const std::vector<std::string> all{"0", "1", "2"};
  EXPECT_EQ(visible_cards(std::nullopt, 3), all);
  EXPECT_EQ(visible_cards("2,0", 3), (std::vector<std::string>{"2", "0"}));
  EXPECT_EQ(visible_cards("GPU-8932f937,MIG-4f", 3),
            (std::vector<std::string>{"GPU-8932f937", "MIG-4f"}));
  EXPECT_EQ(visible_cards("1,-1,0", 3), std::vector<std::string>{"1"});
  EXPECT_TRUE(visible_cards("", 3).empty());
  EXPECT_TRUE(visible_cards("-1", 3).empty());
}

TEST(LaneCards, LanesTakeThemInTurn) {
  const std::vector<std::string> words{"train", "cache", "--backend", "cudnn"};
  const std::vector<std::string> cards{"3", "5"};
  EXPECT_EQ(card_of_lane(cards, 0, words), "3");
  EXPECT_EQ(card_of_lane(cards, 1, words), "5");
  EXPECT_EQ(card_of_lane(cards, 2, words), "3") << "more lanes than cards";
  EXPECT_EQ(card_of_lane(cards, 1, {"train", "cache", "--backend=cudnn"}), "5");
  EXPECT_EQ(card_of_lane(cards, 1, {"train", "cache", "--backend", "onednn"}), std::nullopt);
  EXPECT_EQ(card_of_lane(cards, 1, {"train", "cudnn"}), std::nullopt);
  EXPECT_EQ(card_of_lane({"3"}, 1, words), std::nullopt) << "it is the only one anyway";
  EXPECT_EQ(card_of_lane({}, 1, words), std::nullopt);
}

std::vector<std::string> numbers(int count) {
  std::vector<std::string> jobs;
  for (int i = 0; i < count; ++i) jobs.push_back(std::to_string(i));
  return jobs;
}

TEST(WorkOff, DoesEachJobOnceOnAllLanes) {
  const TemporaryFolder folder;
  JobQueue queue(folder / "queue", "x");
  const std::vector<std::string> jobs = numbers(40);
  std::atomic<int> done = 0;
  std::mutex mutex;
  std::condition_variable changed;
  int begun = 0;
  bool together = true;
  std::array<std::atomic<bool>, 4> busy{};
  work_off(queue, jobs, 4, {}, [&](const Claim& claim, std::size_t lane) {
    EXPECT_LT(lane, 4U);
    EXPECT_FALSE(busy[lane].exchange(true)) << "two jobs at once on one lane";
    {
      // The first job of each lane ends only when those of all lanes have begun.
      std::unique_lock lock(mutex);
      ++begun;
      changed.notify_all();
      const auto all = [&] { return begun >= 4 || !together; };
      if (!changed.wait_for(lock, std::chrono::minutes(2), all)) together = false;
    }
    ++done;
    busy[lane] = false;
    return Outcome{false, claim.job() + "!"};
  });
  EXPECT_EQ(done, 40);
  EXPECT_TRUE(together);
  for (const std::string& job : jobs) EXPECT_EQ(queue.outcome(job), (Outcome{false, job + "!"}));
  work_off(queue, jobs, 4, {}, [&](const Claim&, std::size_t) -> std::optional<Outcome> {
    ADD_FAILURE() << "nothing is done twice";
    return std::nullopt;
  });
}

TEST(WorkOff, KeepsWhatIsDoneWhenItEndsEarly) {
  const TemporaryFolder folder;
  JobQueue queue(folder / "queue", "x");
  const std::vector<std::string> jobs = numbers(10);
  std::atomic<int> done = 0;
  const auto some = [&](const Claim& claim, std::size_t) -> std::optional<Outcome> {
    if (done == 4) return std::nullopt;
    ++done;
    return Outcome{false, claim.job()};
  };
  EXPECT_THROW(work_off(queue, jobs, 1, {}, some), StoppedError);
  EXPECT_THROW(work_off(queue, jobs, 1, {},
                        [](const Claim&, std::size_t) -> std::optional<Outcome> {
                          throw std::runtime_error("wrong options");
                        }),
               std::runtime_error);
  EXPECT_THROW(work_off(
                   queue, jobs, 2, [] { return true; }, some),
               StoppedError);
  done = 100;
  work_off(queue, jobs, 2, {}, some);
  EXPECT_EQ(done, 106);
}

}  // namespace winnow::app::lanes_test

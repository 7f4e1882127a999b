#include "common/queue/job_queue.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "common/rng.h"
#include "tests/common/temporary_folder.h"

namespace winnow::job_queue_test {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::vector<std::string> some_jobs(int count) {
  std::vector<std::string> jobs;
  for (int i = 0; i < count; ++i) jobs.push_back("{\"seed\":" + std::to_string(i) + "}");
  return jobs;
}

TEST(JobQueue, NamesWhoHoldsAJob) {
  const TemporaryFolder folder;
  const std::vector<std::string> jobs = some_jobs(3);
  JobQueue queue(folder / "queue", "cache a");
  std::optional<Claim> claim = queue.claim_next(jobs).claim;
  const JobQueue another(folder / "queue", "cache a");
  const std::vector<JobQueue::Holder> holders = another.holders(jobs);
  ASSERT_EQ(holders.size(), 1U);
  EXPECT_EQ(holders[0].job, jobs[0]);
  EXPECT_EQ(holders[0].process, ::getpid());
  EXPECT_FALSE(holders[0].host.empty());
  fs::resize_file(folder / "queue" / "claims" / job_key(jobs[0]),
                  0);  // delayed before it wrote that
  EXPECT_TRUE(another.holders(jobs).empty());
  claim.reset();  // as a dead process leaves it
  EXPECT_TRUE(another.holders(jobs).empty());
}

TEST(JobQueue, GivesEachJobOnceAndKeepsItsOutcome) {
  const TemporaryFolder folder;
  const std::vector<std::string> jobs{"a", "b", "a"};
  JobQueue queue(folder / "queue", "cache 1");
  JobQueue other(folder / "queue", "cache 1");
  JobQueue::Next a = queue.claim_next(jobs);
  ASSERT_TRUE(a.claim);
  EXPECT_EQ(a.claim->key(), job_key("a"));
  JobQueue::Next b = other.claim_next(jobs);
  ASSERT_TRUE(b.claim);
  EXPECT_EQ(b.held, 1U);
  EXPECT_EQ(b.claim->key(), job_key("b"));
  const JobQueue::Next none = queue.claim_next(jobs);
  EXPECT_FALSE(none.claim);
  EXPECT_EQ(none.held, 3U);
  EXPECT_FALSE(queue.outcome("a"));
  queue.finish(std::move(*a.claim), {false, "{\"top1\":0.5}"});
  other.finish(std::move(*b.claim), {true, "the loss is not finite"});
  for (JobQueue* each : {&queue, &other}) {
    EXPECT_EQ(each->outcome("a"), (Outcome{false, "{\"top1\":0.5}"}));
    EXPECT_EQ(each->outcome("b"), (Outcome{true, "the loss is not finite"}));
    const JobQueue::Next end = each->claim_next(jobs);
    EXPECT_FALSE(end.claim);
    EXPECT_EQ(end.held, 0U);
  }
}

TEST(JobQueue, GivesUpAClaimWithItsHolder) {
  const TemporaryFolder folder;
  const std::vector<std::string> jobs{"a"};
  JobQueue queue(folder / "queue", "x");
  {
    const JobQueue::Next held = queue.claim_next(jobs);
    ASSERT_TRUE(held.claim);
    EXPECT_FALSE(queue.claim_next(jobs).claim);
  }
  EXPECT_TRUE(queue.claim_next(jobs).claim);
}

// As when a lane is killed while its run goes on.
TEST(JobQueue, IsHeldByAProcessThatWasGivenTheDescriptor) {
  const TemporaryFolder folder;
  const std::vector<std::string> jobs{"a"};
  JobQueue queue(folder / "queue", "x");
  int pipe_fds[2];
  ASSERT_EQ(::pipe(pipe_fds), 0);
  pid_t child = 0;
  {
    JobQueue::Next held = queue.claim_next(jobs);
    ASSERT_TRUE(held.claim);
    child = ::fork();
    if (child == 0) {
      char byte = 0;
      ::close(pipe_fds[1]);
      (void)!::read(pipe_fds[0], &byte, 1);
      ::_exit(0);
    }
  }
  EXPECT_FALSE(queue.claim_next(jobs).claim);
  ::close(pipe_fds[1]);
  ::close(pipe_fds[0]);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(queue.claim_next(jobs).claim);
}

TEST(JobQueue, OfLocksThatDoNotReachSaysSo) {
  const TemporaryFolder folder;
  const std::vector<std::string> jobs{"a"};
  JobQueue queue(folder / "queue", "x");
  JobQueue::Next held = queue.claim_next(jobs);
  ASSERT_TRUE(held.claim);
  std::ofstream(folder / "queue" / "claims" / job_key("a")) << "another machine's";
  EXPECT_THAT(
      [&] {
        queue.finish(std::move(*held.claim), {false, "1"});
      },
      ThrowsMessage<Error>(HasSubstr("file locks do not work")));
  EXPECT_FALSE(queue.outcome("a"));
}

TEST(JobQueue, RefusesFoldersThatAreNotItsOwn) {
  const TemporaryFolder folder;
  JobQueue(folder / "queue", "cache 1");
  EXPECT_THAT([&] { JobQueue(folder / "queue", "cache 2"); },
              ThrowsMessage<UsageError>(HasSubstr("contains runs of cache 1, not of cache 2")));
  fs::create_directories(folder / "photos" / "cat");
  EXPECT_THAT([&] { JobQueue(folder / "photos", "x"); },
              ThrowsMessage<UsageError>(HasSubstr("contains other files, such as cat")));
  std::ofstream(folder / "file") << "x";
  EXPECT_THROW(JobQueue(folder / "file", "x"), UsageError);
}

TEST(JobQueue, RefusesResultsThatAreDamaged) {
  const TemporaryFolder folder;
  const std::vector<std::string> jobs{"a", "b"};
  JobQueue queue(folder / "queue", "x");
  queue.finish(std::move(*queue.claim_next(jobs).claim), {false, "1"});
  const fs::path results = folder / "queue" / "results";
  fs::copy_file(results / (job_key("a") + ".json"), results / (job_key("b") + ".json"));
  EXPECT_THAT([&] { queue.outcome("b"); }, ThrowsMessage<FormatError>(HasSubstr("another run")));
  std::ofstream(results / (job_key("a") + ".json")) << "{\"version\":1,";
  EXPECT_THROW(queue.outcome("a"), FormatError);
}

// In memory shared by the workers: the number of steps begun, and the number allowed.
class Pace {
 public:
  Pace()
      : steps_(static_cast<Steps*>(::mmap(nullptr, sizeof(Steps), PROT_READ | PROT_WRITE,
                                          MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    new (steps_) Steps;
  }
  ~Pace() { ::munmap(steps_, sizeof(Steps)); }
  Pace(const Pace&) = delete;
  Pace& operator=(const Pace&) = delete;

  void allow(int count) { steps_->allowed = count; }
  void begin_step() {
    while (steps_->begun >= steps_->allowed) wait_a_moment();
    ++steps_->begun;
  }
  void wait_for(int count) const {
    while (steps_->begun < count) wait_a_moment();
  }

 private:
  struct Steps {
    std::atomic<int> begun{0};
    std::atomic<int> allowed{std::numeric_limits<int>::max()};
    static_assert(std::atomic<int>::is_always_lock_free);
  };
  static void wait_a_moment() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

  Steps* steps_;
};

// A job of a few steps. It resumes where it was killed, and notices if another worker has begun it
// since.
std::string do_job(const Claim& claim, const std::string& job, Pace& pace) {
  fs::create_directories(claim.folder());
  const fs::path working = claim.folder() / "working";
  write_file_durably(working, std::to_string(::getpid()));
  const fs::path state = claim.folder() / "state";
  std::uint64_t done = 0;
  std::ifstream(state) >> done;
  for (; done < 4; ++done) {
    pace.begin_step();
    write_file_durably(state, std::to_string(done + 1));
    const std::string at_work = read_text(working);
    if (at_work != std::to_string(::getpid())) {
      std::ofstream(claim.folder() / "together") << at_work;
    }
  }
  std::ofstream(claim.folder() / "log", std::ios::app) << "finished\n";
  return job + " = " + std::to_string(CounterRng(job.size(), 0, done, RandomUse::kTest).next_u32());
}

[[noreturn]] void work(const fs::path& folder, const std::vector<std::string>& jobs, Pace& pace) {
  try {
    JobQueue queue(folder, "test");
    for (;;) {
      JobQueue::Next next = queue.claim_next(jobs);
      if (!next.claim && next.held == 0) ::_exit(0);
      if (!next.claim) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        continue;
      }
      const Claim& claim = *next.claim;
      std::string job;
      for (const std::string& each : jobs) {
        if (job_key(each) == claim.key()) job = each;
      }
      const Outcome outcome{job.ends_with("7}"), do_job(claim, job, pace)};
      queue.finish(std::move(*next.claim), outcome);
    }
  } catch (const std::exception& error) {
    std::ofstream(folder.string() + ".error") << error.what();
    ::_exit(1);
  }
}

std::map<std::string, std::string> table_of(const fs::path& folder) {
  std::map<std::string, std::string> table;
  for (const auto& entry : fs::directory_iterator(folder / "results")) {
    table[entry.path().filename().string()] = read_text(entry.path());
  }
  return table;
}

pid_t start(const fs::path& folder, const std::vector<std::string>& jobs, Pace& pace) {
  const pid_t child = ::fork();
  if (child == 0) work(folder, jobs, pace);
  return child;
}

TEST(JobQueue, GivesTheSameTableWhereverItsWorkersWereKilled) {
  const TemporaryFolder folder;
  const std::vector<std::string> jobs = some_jobs(100);
  Pace pace_of_whole;
  ASSERT_GT(::waitpid(start(folder / "whole", jobs, pace_of_whole), nullptr, 0), 0);
  const auto whole = table_of(folder / "whole");
  ASSERT_EQ(whole.size(), jobs.size());

  CounterRng random(1, 0, 0, RandomUse::kTest);
  const fs::path killed = folder / "killed";
  std::vector<pid_t> workers;
  Pace pace;
  pace.allow(0);
  for (int i = 0; i < 3; ++i) workers.push_back(start(killed, jobs, pace));
  // The last kill allows fewer than half of all steps.
  for (int kill = 1; kill <= 20; ++kill) {
    pace.allow(7 * kill + 6);
    pace.wait_for(7 * kill);
    // Makes it likely that kills hit any point of the work.
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(3000)));
    pid_t& victim = workers[random.below(3)];
    ::kill(victim, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(victim, &status, 0), victim);
    EXPECT_TRUE(WIFSIGNALED(status)) << "there was work";
    victim = start(killed, jobs, pace);
  }
  pace.allow(std::numeric_limits<int>::max());
  for (const pid_t worker : workers) {
    int status = 0;
    ASSERT_EQ(::waitpid(worker, &status, 0), worker);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_FALSE(fs::exists(killed.string() + ".error")) << read_text(killed.string() + ".error");
  EXPECT_EQ(table_of(killed), whole);
  for (const std::string& job : jobs) {
    EXPECT_FALSE(fs::exists(killed / "runs" / job_key(job) / "together")) << "done twice at once";
  }
}

}  // namespace winnow::job_queue_test

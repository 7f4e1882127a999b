#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/file.h"

namespace winnow {

// The file system of a queue has no locks, so that only one process may work there.
class NoLocksError : public SystemError {
 public:
  using SystemError::SystemError;
};

// Names a job: 32 hex digits of its text, which says all that decides its result. Equal text is
// one job, which is never done twice.
std::string job_key(std::string_view job);

// What became of a job.
struct Outcome {
  bool failed = false;  // a run that diverged is a result as well
  std::string text;     // its result; why it failed. UTF-8
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// What is known of a job; nothing: it is not done.
using OutcomeOf = std::function<std::optional<Outcome>(const std::string& job)>;

// The right to do a job, for as long as it lives. Movable.
class Claim {
 public:
  const std::string& key() const noexcept { return key_; }
  const std::string& job() const noexcept { return job_; }
  // Its folder. What an earlier claim left of it, when its process died, is there.
  const std::filesystem::path& folder() const noexcept { return folder_; }
  // A process that is given this descriptor holds the claim as well, until it has ended.
  int descriptor() const noexcept { return lock_.get(); }

 private:
  friend class JobQueue;
  Claim(Fd lock, std::string key, std::string job, std::filesystem::path folder)
      : lock_(std::move(lock)),
        key_(std::move(key)),
        job_(std::move(job)),
        folder_(std::move(folder)) {}

  Fd lock_;
  std::string key_;
  std::string job_;
  std::filesystem::path folder_;
  std::string token_;  // in the claim's file
};

// Jobs done by any number of threads, processes and machines that share a folder, each job once:
//
//   queue.json         what the jobs are of
//   claims/KEY         locked by who does the job; says whether it is done
//   runs/KEY/          made by it
//   results/KEY.json   the job and what became of it, written durably
//
// Who     All that are given equal jobs work on them together. Another folder holds other jobs.
// Killed  At any moment: the lock goes with the process, and the next one to ask gets the job. No
//         clock is asked, and nothing is to be tidied up.
// NFS     Locks are the server's there (Linux 2.6.12 or later). Where a mount keeps them to itself
//         two machines could do one job: finish() sees that, and says so.
// Safe from many threads.
class JobQueue {
 public:
  // Makes the folder where it is not there. `of`: what all its jobs are of, as the digest of a
  // cache. Throws UsageError: a folder of something else, or with other things in it. NoLocksError.
  JobQueue(std::filesystem::path folder, const std::string& of);

  const std::filesystem::path& folder() const noexcept { return folder_; }

  // The first of these jobs that is neither done nor held.
  struct Next {
    std::optional<Claim> claim;
    std::size_t held = 0;  // by others, of those before it
  };
  // Throws NoLocksError.
  Next claim_next(std::span<const std::string> jobs);

  // Throws Error: another has claimed it meanwhile, for locks do not reach from machine to machine.
  void finish(Claim claim, const Outcome& outcome);

  // Who does these jobs now, other than claims of this process, as far as locks and claims tell:
  // one that was held up before it wrote its name into its claim is not among them.
  struct Holder {
    std::string job;
    std::string host;
    std::int64_t process = 0;
  };
  std::vector<Holder> holders(std::span<const std::string> jobs) const;

  // Nothing: it is not done. Throws FormatError: the file is damaged, or of another job.
  std::optional<Outcome> outcome(std::string_view job) const;

 private:
  bool is_finished(const std::string& key) const;
  std::filesystem::path result_path(const std::string& key) const;

  std::filesystem::path folder_;
  mutable std::mutex mutex_;
  std::set<std::string> finished_;  // keys, as far as they were asked for
};

}  // namespace winnow

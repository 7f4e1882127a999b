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

// Thrown if the file system of a queue has no locks, so that only one process may work there.
class NoLocksError : public SystemError {
 public:
  using SystemError::SystemError;
};

// The key of a job: a hash of its text, as 32 hex digits. The text contains everything that
// determines the job's result. Equal texts are one job, which is done once.
std::string job_key(std::string_view job);

// The result of a job, or why it failed.
struct Outcome {
  bool failed = false;  // a failed job is not retried: a run that diverged would again
  std::string text;     // result, or reason of the failure; UTF-8
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// Returns the outcome of a job; nullopt if the job is not done.
using OutcomeOf = std::function<std::optional<Outcome>(const std::string& job)>;

// The exclusive right to do a job, held while this object lives. Movable.
class Claim {
 public:
  const std::string& key() const noexcept { return key_; }
  const std::string& job() const noexcept { return job_; }
  // The working folder of the job, perhaps with files of an earlier worker that died.
  const std::filesystem::path& folder() const noexcept { return folder_; }
  // File descriptor of the lock. A child process that inherits it holds the claim, too, until it
  // ends.
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
  std::string token_;  // random text in the claim's file, by which a second worker is noticed
};

// A queue of jobs for any number of threads, processes and machines that share a folder. Each job
// is done once. Thread-safe.
//
//   queue.json         the common subject of the jobs
//   claims/KEY         locked by the worker; says whether the job is done
//   runs/KEY/          working folder of the job
//   results/KEY.json   the job and its result, written durably
//
// Who     Workers that ask for equal jobs share them. A queue in another folder has other jobs.
// Killed  A worker may die at any moment: its lock ends with the process, and the next worker that
//         asks gets the job. No clock is used, and nothing needs cleaning.
// NFS     Locks are those of the server (Linux 2.6.12 or later). If a mount keeps locks local, two
//         machines could do one job; finish() detects and reports that.
class JobQueue {
 public:
  // Opens the queue in `folder`; creates it if need be. `of` is the common subject of its jobs,
  // such as the digest of a cache.
  // Errors  UsageError: a folder with another subject or other content. NoLocksError.
  JobQueue(std::filesystem::path folder, const std::string& of);

  const std::filesystem::path& folder() const noexcept { return folder_; }

  // The first of the given jobs that is neither done nor claimed, claimed for the caller.
  struct Next {
    std::optional<Claim> claim;
    std::size_t held = 0;  // number of jobs before it that other workers have claimed
  };
  // Throws NoLocksError.
  Next claim_next(std::span<const std::string> jobs);

  // Stores the outcome of a job. Throws Error if another worker claimed the job meanwhile, because
  // locks do not work between machines.
  void finish(Claim claim, const Outcome& outcome);

  // The workers that hold claims of these jobs now, without this process, as far as locks and
  // claims tell. A worker that has not yet written its name into its claim is missing.
  struct Holder {
    std::string job;
    std::string host;
    std::int64_t process = 0;
  };
  std::vector<Holder> holders(std::span<const std::string> jobs) const;

  // The outcome of a job; nullopt: it is not done. Throws FormatError if the file is damaged, or of
  // another job.
  std::optional<Outcome> outcome(std::string_view job) const;

 private:
  bool is_finished(const std::string& key) const;
  std::filesystem::path result_path(const std::string& key) const;

  std::filesystem::path folder_;
  mutable std::mutex mutex_;
  std::set<std::string> finished_;  // keys of jobs known to be finished
};

}  // namespace winnow

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

// The file system of a queue has no locks, so only one process may work there.
class NoLocksError : public SystemError {
 public:
  using SystemError::SystemError;
};

// The key of a job: 32 hex digits of its text, which contains everything that determines its
// result. Equal texts are one job, which is done once.
std::string job_key(std::string_view job);

// The result of a job.
struct Outcome {
  bool failed = false;  // a diverged run is a result as well
  std::string text;     // its result, or the reason for failure; UTF-8
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// The outcome of a job, or nullopt if it is not done.
using OutcomeOf = std::function<std::optional<Outcome>(const std::string& job)>;

// The right to do a job, while it lives. Movable.
class Claim {
 public:
  const std::string& key() const noexcept { return key_; }
  const std::string& job() const noexcept { return job_; }
  // Its folder, perhaps with files of an earlier claim whose process died.
  const std::filesystem::path& folder() const noexcept { return folder_; }
  // A process that inherits this descriptor also holds the claim, until it ends.
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
  std::string token_;  // written in the claim's file
};

// Jobs for any number of threads, processes and machines that share a folder. Each job is done
// once. Thread-safe.
//
//   queue.json         the common subject of the jobs
//   claims/KEY         locked by the worker; says whether the job is done
//   runs/KEY/          working folder of the job
//   results/KEY.json   the job and its result, written durably
//
// Who     All workers with equal jobs share them. Another folder has other jobs.
// Killed  At any moment: the lock ends with the process, and the next to ask gets the job. No clock
//         is used, and nothing needs cleaning.
// NFS     Locks are the server's (Linux 2.6.12 or later). If a mount keeps them local, two machines
//         could do one job; finish() detects and reports that.
class JobQueue {
 public:
  // Creates the folder if need be. `of` is the common subject of its jobs, such as the digest of a
  // cache.
  // Errors  UsageError: a folder for another subject, or with other content. NoLocksError.
  JobQueue(std::filesystem::path folder, const std::string& of);

  const std::filesystem::path& folder() const noexcept { return folder_; }

  // The first job that is neither done nor claimed.
  struct Next {
    std::optional<Claim> claim;
    std::size_t held = 0;  // number of jobs before it that are claimed by others
  };
  // Throws NoLocksError.
  Next claim_next(std::span<const std::string> jobs);

  // Throws Error if another worker has claimed it meanwhile, because locks do not work between
  // machines.
  void finish(Claim claim, const Outcome& outcome);

  // The current workers of these jobs, except claims of this process, as far as locks and claims
  // tell. A worker that has not written its name into its claim yet is missing.
  struct Holder {
    std::string job;
    std::string host;
    std::int64_t process = 0;
  };
  std::vector<Holder> holders(std::span<const std::string> jobs) const;

  // nullopt: not done. Throws FormatError: the file is damaged, or of another job.
  std::optional<Outcome> outcome(std::string_view job) const;

 private:
  bool is_finished(const std::string& key) const;
  std::filesystem::path result_path(const std::string& key) const;

  std::filesystem::path folder_;
  mutable std::mutex mutex_;
  std::set<std::string> finished_;  // keys of finished jobs, as far as known
};

}  // namespace winnow

#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/experiment/lanes.h"
#include "app/session.h"
#include "common/json_reader.h"
#include "common/queue/job_queue.h"

namespace winnow::app {

// How the runs of an experiment are trained.
struct TrainJobs {
  std::string verb;  // verb that the experiment belongs to: "sweep"
  std::filesystem::path cache;
  int lanes = 1;    // runs at the same time
  int threads = 0;  // cores of all these runs together; 0: all of this process
  // The words of `winnow train` for a job, without those that every run has.
  std::function<std::vector<std::string>(const std::string& job)> words;
};

// How to do jobs. Each job is one command of winnow.
struct CommandJobs {
  std::string verb;  // verb that asks for the jobs
  std::string unit;  // unit on the progress bar: "runs"
  int lanes = 1;     // jobs at the same time
  int threads = 0;   // as in TrainJobs
  // The command for a job on this many cores, beginning with its verb.
  std::function<std::vector<std::string>(const Claim& claim, int threads)> words;
  // `printed`: stdout of the command.
  std::function<Outcome(const Claim& claim, const JsonReader& printed)> outcome;
};

// Does the jobs that are not done, each in a process of its own, with a progress bar. Failures: as
// train_jobs().
void do_jobs(const CommandJobs& how, const std::vector<std::string>& jobs, JobQueue& queue,
             const Session& session);

// Trains the jobs that are not done, each by a `winnow train` in runs/KEY/run that resumes from its
// last checkpoint. Shows a progress bar.
//
// Out     outcome_of_run(). A loss that is not finite, also in training, is a failed outcome.
// Throws  UsageError: words that winnow train refuses; Error: any other failure, which would hit
//         the other runs too; StoppedError.
void train_jobs(const TrainJobs& how, const std::vector<std::string>& jobs, JobQueue& queue,
                const Session& session);

// Whether a `winnow train` ended because its loss was not finite, according to its `log`.
bool has_diverged(const ChildEnd& end, const std::filesystem::path& log);

// Reports the last message in `log` of a `winnow COMMAND` that failed. Throws UsageError or Error.
[[noreturn]] void refuse_failure(const std::string& verb, const std::string& command,
                                 const ChildEnd& end, const std::filesystem::path& log);

}  // namespace winnow::app

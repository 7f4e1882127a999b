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
  std::string verb;  // command of the experiment: "sweep"
  std::filesystem::path cache;
  int lanes = 1;    // number of runs that are trained at the same time
  int threads = 0;  // cores of all these runs together; 0: all available cores
  // The options of `winnow train` for a job, without those that all runs have.
  std::function<std::vector<std::string>(const std::string& job)> words;
};

// How to do jobs that are commands of winnow, one command each.
struct CommandJobs {
  std::string verb;  // command that asks for the jobs, "sweep"
  std::string unit;  // unit on the progress bar: "runs"
  int lanes = 1;     // number of jobs that run at the same time
  int threads = 0;   // cores of all these jobs together; 0: all available cores
  // The command line for a job on `threads` cores, beginning with its verb.
  std::function<std::vector<std::string>(const Claim& claim, int threads)> words;
  // Converts the stdout of a job's command, `printed`, to the job's outcome.
  std::function<Outcome(const Claim& claim, const JsonReader& printed)> outcome;
};

// Does the jobs that are not done yet, each in a child process, with a progress bar. Throws as
// train_jobs().
void do_jobs(const CommandJobs& how, const std::vector<std::string>& jobs, JobQueue& queue,
             const Session& session);

// Trains the jobs that are not done yet, each by a `winnow train` in runs/KEY/run that resumes from
// its last checkpoint. Shows a progress bar.
//
// Out     Outcomes as of outcome_of_run(). A run whose loss is not finite, also in training, is a
//         failed outcome.
// Throws  UsageError: winnow train refuses the options; Error: any other failure, because other
//         runs would fail as well; StoppedError.
void train_jobs(const TrainJobs& how, const std::vector<std::string>& jobs, JobQueue& queue,
                const Session& session);

// Whether a `winnow train` ended because its loss was not finite, according to its `log`.
bool has_diverged(const ChildEnd& end, const std::filesystem::path& log);

// Throws the last message in the `log` of a failed `winnow COMMAND`, as UsageError or Error.
[[noreturn]] void refuse_failure(const std::string& verb, const std::string& command,
                                 const ChildEnd& end, const std::filesystem::path& log);

}  // namespace winnow::app

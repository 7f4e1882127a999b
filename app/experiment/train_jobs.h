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
  std::string verb;  // whose runs they are: "sweep"
  std::filesystem::path cache;
  int lanes = 1;    // runs at the same time
  int threads = 0;  // cores of all lanes together; 0: this process's share
  // The words of `winnow train` that a job stands for, but for those that every run has.
  std::function<std::vector<std::string>(const std::string& job)> words;
};

// How jobs are done of which each is one command of winnow.
struct CommandJobs {
  std::string verb;  // for which they are done
  std::string unit;  // what they are: "runs"
  int lanes = 1;
  int threads = 0;
  // The command, from its verb on, on so many cores.
  std::function<std::vector<std::string>(const Claim& claim, int threads)> words;
  // `printed`: what it said on stdout.
  std::function<Outcome(const Claim& claim, const JsonReader& printed)> outcome;
};

// Does those of the jobs that are not done, each by a process of its own. A bar shows how far it
// is. What is said of failures below holds.
void do_jobs(const CommandJobs& how, const std::vector<std::string>& jobs, JobQueue& queue,
             const Session& session);

// Trains those of the jobs that are not done, each as a `winnow train` of its own in runs/KEY/run,
// which goes on from its last checkpoint. A bar shows how far it is.
//
// Out       outcome_of_run(). A loss that is not finite, of training too, is an outcome that
// failed. Throws    UsageError: words that winnow train does not take; Error: what else fails would
// fail
//           for the others as well; StoppedError.
void train_jobs(const TrainJobs& how, const std::vector<std::string>& jobs, JobQueue& queue,
                const Session& session);

// Whether a `winnow train` ended since its loss was not finite, by what it said in `log`.
bool has_diverged(const ChildEnd& end, const std::filesystem::path& log);

// Says what a `winnow COMMAND` that failed said last, in `log`. Throws UsageError or Error.
[[noreturn]] void refuse_failure(const std::string& verb, const std::string& command,
                                 const ChildEnd& end, const std::filesystem::path& log);

}  // namespace winnow::app

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/experiment/tune_table.h"
#include "common/queue/job_queue.h"

namespace winnow::app {

struct TuneLrOptions {
  std::filesystem::path cache = {};
  std::string selection = {};           // name of the selection to train on; empty: none
  std::vector<std::string> optimizers;  // names of the optimisers to tune
  TuneArmOptions arms;  // axes and trials; `optimizers` and `has_recipe` in it are derived
  bool halving = false;
  double holdout = 0.1;  // share of the training samples held out to measure accuracy
  int seeds = 3;         // number of runs of the best setting, with different seeds
  std::vector<std::string> train = {};  // further options for winnow train
};

// The training runs of `winnow tune-lr`.
struct TunePlan {
  TuneLrOptions options;  // options of the user, with derived fields set
  std::string cache_digest;
  std::string selection_digest;
  std::uint64_t training = 0;  // number of training samples
  std::uint64_t held_out = 0;  // number of held-out samples
  std::vector<TuneArm> arms;
  // Rungs of successive halving, the same for all arms; a single one without halving.
  std::vector<Rung> rungs;
  std::uint64_t test = 0;               // number of test images, which no run sees
  std::vector<std::string> notes = {};  // remarks to show before training begins
};

// Plans the runs. Throws UsageError: an unknown optimiser, a batch larger than the training set,
// options for winnow train that tuning sets itself; as arms_of() and Cache::open().
TunePlan plan_tuning(TuneLrOptions options);

// Progress of `winnow tune-lr`.
struct TuneState {
  std::vector<ArmRuns> runs;      // trials and final runs of each arm
  std::vector<std::string> jobs;  // jobs that are known so far, in the order they are done
  bool ended = false;
};
// Computes the progress. `outcome_of`: result of a job by tuned_outcome(); nullopt: not done. Pure.
TuneState state_of(const TunePlan& plan, const OutcomeOf& outcome_of);

// Names of the jobs for a trial, and for a final run. Final runs have other seeds than trials.
std::string trial_job(const TunePlan& plan, std::size_t arm, std::size_t setting, std::size_t rung);
std::string final_job(const TunePlan& plan, std::size_t arm, std::size_t setting, int seed);
// The options of `winnow train` for a job.
std::vector<std::string> tuned_words(const std::string& job);

}  // namespace winnow::app

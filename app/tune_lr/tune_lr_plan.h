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
  std::string selection = {};           // selection to train on; empty: none
  std::vector<std::string> optimizers;  // names
  TuneArmOptions arms;                  // without `optimizers` and `has_recipe`, which are derived
  bool halving = false;
  double holdout = 0.1;                 // share of the training samples on which runs are judged
  int seeds = 3;                        // final runs of the best setting
  std::vector<std::string> train = {};  // further words for winnow train
};

// The runs of a tuning.
struct TunePlan {
  TuneLrOptions options;  // with derived fields set
  std::string cache_digest;
  std::string selection_digest;
  std::uint64_t training = 0;  // number of samples
  std::uint64_t held_out = 0;
  std::vector<TuneArm> arms;
  std::vector<Rung> rungs;              // the same for all arms; a single one without halving
  std::uint64_t test = 0;               // images of the test split, which no run sees
  std::vector<std::string> notes = {};  // remarks to show before anything is trained
};

// Throws UsageError: an unknown optimiser, a batch larger than the training samples, words for
// winnow train that tuning decides; as arms_of() and Cache::open().
TunePlan plan_tuning(TuneLrOptions options);

// Progress of a tuning.
struct TuneState {
  std::vector<ArmRuns> runs;      // runs of each arm
  std::vector<std::string> jobs;  // jobs that are known so far, in the order to do them
  bool ended = false;
};
// `outcome_of`: result of a job by tuned_outcome(); nullopt: not done. Pure.
TuneState state_of(const TunePlan& plan, const OutcomeOf& outcome_of);

// Jobs of a trial, and of a final run, whose seed differs from that of all trials.
std::string trial_job(const TunePlan& plan, std::size_t arm, std::size_t setting, std::size_t rung);
std::string final_job(const TunePlan& plan, std::size_t arm, std::size_t setting, int seed);
// The words of `winnow train` for a job.
std::vector<std::string> tuned_words(const std::string& job);

}  // namespace winnow::app

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
  std::string selection = {};           // that is obeyed; empty: none
  std::vector<std::string> optimizers;  // names
  TuneArmOptions arms;  // but for `optimizers` and `has_recipe`, which are found out
  bool halving = false;
  double holdout = 0.1;                 // share of the training samples that runs are judged on
  int seeds = 3;                        // final runs of the best setting
  std::vector<std::string> train = {};  // further words of winnow train
};

// What is to be trained.
struct TunePlan {
  TuneLrOptions options;  // completed
  std::string cache_digest;
  std::string selection_digest;
  std::uint64_t training = 0;  // samples
  std::uint64_t held_out = 0;
  std::vector<TuneArm> arms;
  std::vector<Rung> rungs;              // the same for all arms: one without halving
  std::uint64_t test = 0;               // images of the test split, which no run sees
  std::vector<std::string> notes = {};  // what people should know before anything is trained
};

// Throws UsageError: an optimiser that there is not, a batch larger than the training samples,
// words of winnow train that tuning decides, and as arms_of(); as Cache::open().
TunePlan plan_tuning(TuneLrOptions options);

// How far it is.
struct TuneState {
  std::vector<ArmRuns> runs;      // of each arm
  std::vector<std::string> jobs;  // that are known by now, in the order to do them in
  bool ended = false;
};
// `outcome_of`: a job's, by tuned_outcome(); nothing: it is not done. Pure.
TuneState state_of(const TunePlan& plan, const OutcomeOf& outcome_of);

// A trial, and a final run, which has another seed than all trials.
std::string trial_job(const TunePlan& plan, std::size_t arm, std::size_t setting, std::size_t rung);
std::string final_job(const TunePlan& plan, std::size_t arm, std::size_t setting, int seed);
// The words of `winnow train` that a job stands for.
std::vector<std::string> tuned_words(const std::string& job);

}  // namespace winnow::app

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/experiment/sweep_table.h"
#include "app/session.h"
#include "app/sweep/sweep_samples.h"
#include "dedup/sweep/points.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

struct SweepOptions {
  std::filesystem::path cache;
  dedup::SweepAxes axes;
  double holdout = 0.1;  // share of the training samples on which runs are judged
  int seeds = 3;
  double epochs = 10;  // for the arm that thins nothing
  // budgets: units in which all arms train equally long
  std::vector<std::string> equal{"epochs", "steps"};
  // largest difference between classes of removals that share a control
  double control_tolerance = 0.02;
  std::vector<std::string> train;  // further words for winnow train
};

// The runs of a sweep.
struct SweepPlan {
  std::string cache_digest;
  std::uint64_t training = 0;  // number of samples
  std::uint64_t held_out = 0;
  std::string base;  // the selection that thins nothing
  SweepTest test = {};
  std::vector<std::string> classes;          // names, any bytes
  std::vector<std::uint64_t> class_samples;  // training samples of each class
  std::vector<SweepArm> arms;                // the arm that thins nothing comes first
  std::vector<std::string> notes;            // remarks to show before anything is trained
};

// The words of `winnow train` for a job, from --selection on.
std::vector<std::string> train_words(const std::string& job);

// Checks what can be checked before anything is made, and opens the cache.
// Throws  UsageError: impossible points, words for train that a sweep decides itself; SystemError:
//         a cache that cannot be written to.
pipeline::Cache open_swept(const SweepOptions& options);

// Decides which samples each arm trains on, and writes the arms into the cache as selections
// "sweep-DIGEST". Selections that are equal for training get one name and are written once. With
// `estimates`, only the hold-out and the arm that thins nothing are written.
//
// folder    Folder of the sweep; must exist. The hold-out is made once for all sweeps in it, and
//           pictures are compared once (hold-out.json, verified.pairs), because a later winnow may
//           find other duplicates.
// Hold-out  The folder's, if it has one of that size. Else a new one that keeps duplicates, as
//           `winnow split` finds them, together. The same for all arms. Test is in no arm. Training
//           samples with a duplicate in test stay; test is then also evaluated without them.
// Thinned   Only train, at each point. If a share is asked for, exactly that share (SweepSamples).
// Controls  The same number of each class, removed at random, drawn anew for each seed
//           (dedup::draw_control).
// Throws    UsageError: a share that a hash cannot remove, missing pictures that are to be
//           compared; FormatError: a damaged file in the folder.
SweepPlan plan_sweep(const SweepOptions& options, const pipeline::Cache& cache, bool estimates,
                     const std::filesystem::path& folder, const Session& session);

}  // namespace winnow::app

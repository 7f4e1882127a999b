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
  double holdout = 0.1;  // share of the training samples held out to measure accuracy
  int seeds = 3;         // number of runs with different random seeds per arm
  double epochs = 10;    // epochs of the arm that trains on all images
  // Budgets, the units in which all arms train equally long: "epochs", "steps" or both.
  std::vector<std::string> equal{"epochs", "steps"};
  // Arms share a control (random removal) if their numbers of removals per class differ by at most
  // this share.
  double control_tolerance = 0.02;
  std::vector<std::string> train;  // further options for winnow train
};

// The training runs of a sweep: arms (ways to thin the training data) and their data.
struct SweepPlan {
  std::string cache_digest;
  std::uint64_t training = 0;  // number of training samples before thinning
  std::uint64_t held_out = 0;  // number of held-out samples
  std::string base;            // name of the selection that keeps all training samples
  SweepTest test = {};
  std::vector<std::string> classes;          // names of the classes, any bytes
  std::vector<std::uint64_t> class_samples;  // number of training samples of each class
  std::vector<SweepArm> arms;      // ways to thin the training data; the first one keeps all
  std::vector<std::string> notes;  // remarks to show before training begins
};

// The options of `winnow train` for a job, beginning with --selection.
std::vector<std::string> train_words(const std::string& job);

// Opens the cache for a sweep, after checking all that can be checked before files are written.
// Throws  UsageError: invalid points of the sweep; options for train that a sweep sets itself.
//         SystemError: the cache cannot be written to.
pipeline::Cache open_swept(const SweepOptions& options);

// Decides on which samples each arm of the sweep trains. Writes them into the cache as selections
// named "sweep-DIGEST"; arms that train on the same samples share one. With `estimates`, only the
// hold-out and the arm that keeps all samples are written.
//
// folder    The sweep's folder, which must exist. It stores the hold-out (hold-out.json) and the
//           pairs found by comparing pictures (verified.pairs), so that a later version of winnow,
//           which may find other pairs, continues with the same data.
// Hold-out  The one in the folder, if its size is right. Else a new one, which never separates
//           duplicates as `winnow split` finds them. The same for all arms.
// Test      In no arm. Training samples with a duplicate in test stay; accuracy on test is also
//           measured without these duplicates.
// Thinned   Train only, once for each point of the sweep. If a share is given, exactly that share
//           is removed (SweepSamples).
// Controls  As many samples of each class, removed at random; other ones for each seed
//           (dedup::draw_control).
// Throws    UsageError: a hash cannot remove the given share; pictures to compare are missing.
//           FormatError: a file in the folder is damaged.
SweepPlan plan_sweep(const SweepOptions& options, const pipeline::Cache& cache, bool estimates,
                     const std::filesystem::path& folder, const Session& session);

}  // namespace winnow::app

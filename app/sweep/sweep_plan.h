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
  double holdout = 0.1;  // share of the training samples that runs are judged on
  int seeds = 3;
  double epochs = 10;                                 // of what thins nothing
  std::vector<std::string> equal{"epochs", "steps"};  // what all arms have alike
  double control_tolerance = 0.02;  // that the classes of removals that share a control differ by
  std::vector<std::string> train;   // further words of winnow train
};

// What is to be trained.
struct SweepPlan {
  std::string cache_digest;
  std::uint64_t training = 0;  // samples
  std::uint64_t held_out = 0;
  std::string base;  // the selection that thins nothing
  SweepTest test = {};
  std::vector<std::string> classes;          // names, any bytes
  std::vector<std::uint64_t> class_samples;  // training samples of each
  std::vector<SweepArm> arms;                // that which thins nothing comes first
  std::vector<std::string> notes;            // what people should know before anything is trained
};

// The words of `winnow train` that a job stands for, from --selection on.
std::vector<std::string> train_words(const std::string& job);

// Checks what can be before anything is made, and opens the cache.
// Throws UsageError: points that make no sense, words of train that a sweep decides itself;
//        SystemError: a cache that cannot be written to.
pipeline::Cache open_swept(const SweepOptions& options);

// Decides which samples each arm trains on, and writes that into the cache as selections
// "sweep-DIGEST", each named by its effect: of two that training sees no difference between there
// is one. Where it only `estimates`, those of the hold-out and the one that thins nothing alone.
//
// folder    Of the sweep; must be there. A hold-out is cut once for all sweeps in it, and pictures
//           are compared once, for what finds duplicates may be another winnow when one goes on:
//           hold-out.json and verified.pairs keep what came of both.
// Hold-out  That of the folder, where it is there and as large. Else cut, by the duplicates that
//           `winnow split` takes for such, and the same for all arms. Test is in no arm. Training
//           samples that have a duplicate in it stay: what they give away is told apart when test
//           is looked at.
// Thinned   Train alone, at each point. Where a share is asked for, exactly that (SweepSamples).
// Controls  As many of each class removed at random, drawn for each seed anew
//           (dedup::draw_control).
// Throws    UsageError: a share that a hash cannot remove, pictures to be compared that are not
//           there; FormatError: what the folder keeps is damaged.
SweepPlan plan_sweep(const SweepOptions& options, const pipeline::Cache& cache, bool estimates,
                     const std::filesystem::path& folder, const Session& session);

}  // namespace winnow::app

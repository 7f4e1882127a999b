#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "dedup/sweep/points.h"
#include "tools/command.h"
#include "tools/experiment/sweep_table.h"
#include "tools/sweep_samples.h"

namespace winnow::tools {

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

// A hold-out is cut once for all sweeps in a folder: what finds duplicates may be another winnow
// when one goes on. Keeps that of a plan in a file, where it is not there.
void keep_hold_out(const std::filesystem::path& file, const SweepOptions& options,
                   const SweepPlan& plan);

// Decides which samples each arm trains on, and writes that into the cache as selections
// "sweep-DIGEST", each named by its effect: of two that training sees no difference between there
// is one. Where it only `estimates`, the one that thins nothing alone is written.
//
// Hold-out  That of the file `hold_out`, where it is there and as large. Else cut, by the
// duplicates that `winnow split` takes for such, and the same for all
//           arms. Test is in no arm. Training samples that have a duplicate in it stay: what
//           they give away is told apart when test is looked at.
// Thinned   Train alone, at each point. Where a share is asked for, exactly that (dedup::trim).
// Controls  As many of each class removed at random, drawn for each seed anew
//           (dedup::draw_control).
// Throws    UsageError: points that make no sense, a share that a hash cannot remove;
//           SystemError: a cache that cannot be written to.
SweepPlan plan_sweep(const SweepOptions& options, bool estimates,
                     const std::filesystem::path& hold_out, const Session& session);

}  // namespace winnow::tools

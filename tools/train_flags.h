#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/memory_flags.h"
#include "tools/training_recipe_flags.h"
#include "train/run/options.h"

namespace winnow::tools {

// The flags that say what is trained and how: of all verbs that train or plan a training.

// Words that become options when a verb runs.
struct TrainWords {
  std::string augment;
  std::string sampling = "uniform";
  std::string class_weights;
  std::string dtype = "f32";
  std::string loss_scale = "auto";
  std::vector<std::string> frozen;     // patterns
  std::vector<std::string> lr_scales;  // PATTERN=FACTOR
  std::vector<std::string> no_decay;   // patterns, or "none" alone; empty: not given
};

struct TrainFlags {
  train::TrainOptions train;
  TrainWords given;
  std::uint64_t bucket_kib = 0;
  std::uint64_t memory_mib = 0;
  TakenRecipe recipe;
  MemoryOptions memory;
  int threads = 0;
};

// The groups "Data", "Start", "Recipe" and "Execution", and what is before them. `flags` outlives
// the parsing.
// Out  the group "Data", for flags of the verb's own
Verb add_train_flags(Verb verb, TrainFlags& flags);

// How long a run is, and what interrupts it: --max-steps, checkpoints, evaluations.
void add_pause_flags(Verb group, train::RunOptions& run);

// What the flags come to. Collective.
// Throws  UsageError, on all ranks
train::TrainOptions train_options(const TrainFlags& flags, const Session& session);

}  // namespace winnow::tools

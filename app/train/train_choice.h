#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/load/load_shards.h"
#include "app/session.h"
#include "train/run/options.h"

namespace winnow::app {

// A recipe of training (training_recipes.h) that was applied.
struct TakenRecipe {
  std::string own;       // name of a recipe chosen by default
  std::string sentence;  // which one was applied, for people; empty: none, as with --recipe none
};

// Words of flags that become options when a verb runs.
struct TrainWords {
  std::string augment;
  std::string sampling = "uniform";
  std::string class_weights;
  std::string dtype = "f32";
  std::string loss_scale = "auto";
  std::vector<std::string> frozen;     // patterns
  std::vector<std::string> lr_scales;  // PATTERN=FACTOR
  std::vector<std::string> no_decay;   // patterns, or only "none"; empty: not given
};

// The training that the user asked for. Shared by all verbs that train or plan a training.
struct TrainChoice {
  train::TrainOptions train;
  TrainWords given;
  std::uint64_t bucket_kib = 0;
  std::uint64_t memory_mib = 0;
  TakenRecipe recipe;
  MemoryOptions memory;
  int threads = 0;
};

// Turns the choice into options. Collective.
// Throws  UsageError, on all ranks
train::TrainOptions train_options(const TrainChoice& choice, const Session& session);

}  // namespace winnow::app

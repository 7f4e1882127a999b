#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/load/load_shards.h"
#include "app/session.h"
#include "train/run/options.h"

namespace winnow::app {

// A recipe of training (training_recipes.h) that was taken.
struct TakenRecipe {
  std::string own;       // its name, where nobody named one
  std::string sentence;  // for people: which was taken; empty: none, as with --recipe none
};

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

// What is trained and how, as it was asked for: of all verbs that train or plan a training.
struct TrainChoice {
  train::TrainOptions train;
  TrainWords given;
  std::uint64_t bucket_kib = 0;
  std::uint64_t memory_mib = 0;
  TakenRecipe recipe;
  MemoryOptions memory;
  int threads = 0;
};

// What the choice comes to. Collective.
// Throws  UsageError, on all ranks
train::TrainOptions train_options(const TrainChoice& choice, const Session& session);

}  // namespace winnow::app

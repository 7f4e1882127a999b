#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/load/load_shards.h"
#include "app/session.h"
#include "train/run/options.h"

namespace winnow::app {

// The recipe of training (training_recipes.h) that was applied, if any.
struct TakenRecipe {
  std::string own;  // name of the recipe if it was chosen by default
  // Which recipe was applied, as a sentence; empty: none, as with --recipe none.
  std::string sentence;
};

// Options in the user's words, which can only be parsed when the cache or the net is known.
struct TrainWords {
  std::string augment;
  std::string sampling = "uniform";
  std::string class_weights;
  std::string dtype = "f32";
  std::string loss_scale = "auto";
  std::vector<std::string> frozen;     // name patterns of weights that are not trained
  std::vector<std::string> kernels;    // kernels to impose, LAYER=KERNEL
  std::vector<std::string> lr_scales;  // learning-rate factors, PATTERN=FACTOR
  // Name patterns of weights without decay, or only "none"; empty: not given.
  std::vector<std::string> no_decay;
};

// The training that the user asked for. Shared by all verbs that train, or plan a training.
struct TrainChoice {
  train::TrainOptions train;
  TrainWords given;
  std::uint64_t bucket_kib = 0;
  std::uint64_t memory_mib = 0;
  TakenRecipe recipe;
  MemoryOptions memory;
  int threads = 0;
};

// Converts the user's choice to options of train::train(). Collective. Throws UsageError, on all
// ranks.
train::TrainOptions train_options(const TrainChoice& choice, const Session& session);

}  // namespace winnow::app

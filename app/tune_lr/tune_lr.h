#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "app/experiment/tune_space.h"
#include "app/session.h"
#include "app/tune_lr/tune_lr_plan.h"
#include "common/json.h"

namespace winnow::app {

struct TuneLrRequest {
  TuneLrOptions tune{.optimizers = {"sgd"}, .arms = {.batches = {128}}};
  // What is tried of each of kTuneFlags, as people say it.
  std::array<std::vector<std::string>, kTuneFlags.size()> axes;
  int lanes = 1;
  int threads = 0;
  std::filesystem::path out;
  double margin_points = 0.5;
  bool test = false;
  bool estimate = false;
  bool json = false;
};

// Tries learning rates, and compares optimisers at their best.
void run_tune_lr(const TuneLrRequest& request, Session& session);

}  // namespace winnow::app

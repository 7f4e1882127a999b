#pragma once

#include <array>
#include <string>
#include <vector>

#include "app/experiment/experiment.h"
#include "app/experiment/tune_space.h"
#include "app/session.h"
#include "app/tune_lr/tune_lr_plan.h"

namespace winnow::app {

struct TuneLrRequest : ExperimentRequest {
  TuneLrOptions tune{.optimizers = {"sgd"}, .arms = {.batches = {128}}};
  // Values to try for each option of kTuneFlags, as the user wrote them.
  std::array<std::vector<std::string>, kTuneFlags.size()> axes;
  bool test = false;
};

// Searches the best learning rate of each optimiser, and compares the optimisers at their best.
void run_tune_lr(const TuneLrRequest& request, Session& session);

}  // namespace winnow::app

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/experiment/experiment.h"
#include "app/session.h"
#include "app/sweep/sweep_plan.h"

namespace winnow::app {

struct SweepRequest : ExperimentRequest {
  SweepOptions sweep;
  std::vector<std::string> keeps{"first"};
  std::vector<std::string> modes{"keep"};
  // Most training images of the recommended setting; 0: recommend one without loss of accuracy.
  std::uint64_t most_images = 0;
  bool all_seeds = false;
};

// Trains on the results of several deduplication settings, and compares the accuracies.
void run_sweep(const SweepRequest& request, Session& session);

}  // namespace winnow::app

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/session.h"
#include "app/sweep/sweep_plan.h"
#include "common/json.h"

namespace winnow::app {

struct SweepRequest {
  SweepOptions sweep;
  std::filesystem::path out;
  std::vector<std::string> keeps{"first"};
  std::vector<std::string> modes{"keep"};
  double margin_points = 0.5;
  std::uint64_t most_images = 0;  // 0: the choice is what loses nothing
  bool all_seeds = false;
  int lanes = 1;
  int threads = 0;
  bool estimate = false;
  bool json = false;
};

// Trains on what several deduplications leave, and compares.
void run_sweep(const SweepRequest& request, Session& session);

}  // namespace winnow::app

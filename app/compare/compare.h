#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "app/session.h"
#include "common/json.h"
#include "train/run/evaluations/evaluate_run.h"

namespace winnow::app {

struct CompareRequest {
  std::vector<std::filesystem::path> runs;
  train::EvalOptions eval;  // settings for the evaluation of every run
  std::optional<double> margin_points;
  std::filesystem::path report;
  int threads = 0;
  bool json = false;
};

// Compares training runs image by image.
void run_compare(const CompareRequest& request, Session& session);

}  // namespace winnow::app

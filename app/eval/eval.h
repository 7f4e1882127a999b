#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/load/load_shards.h"
#include "app/session.h"
#include "common/json.h"
#include "train/run/evaluations/evaluate_run.h"

namespace winnow::app {

struct EvalRequest {
  train::EvalOptions eval;
  std::vector<std::filesystem::path> caches;
  // Splits to evaluate in each cache; empty: the default of evaluate_run().
  std::vector<std::string> splits;
  std::string dtype = "f32";
  std::filesystem::path predictions;
  MemoryOptions memory;
  int threads = 0;
  bool json = false;
};

// Evaluates a training run, or given weights, on splits of caches.
void run_eval(const EvalRequest& request, Session& session);

}  // namespace winnow::app

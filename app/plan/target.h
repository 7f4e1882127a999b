#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/plan/report.h"
#include "train/run/log/metrics.h"

namespace winnow::app {

// A target for runs: "top1=0.9", "loss:val=0.4". METRIC[:SPLIT] is as for --keep-best.
struct Target {
  std::string text{};
  std::string metric{};  // name in metrics.jsonl: "val.top1"
  double value = 0;
};
// Throws UsageError: not a target.
Target parse_target(const std::string& text);

// The first evaluation of a run that reached `target`, and the one before it. Pure.
// Throws  UsageError, naming `run`: none reached it, or none has the metric
train::ReachedTarget reached(const std::vector<train::MetricsRow>& rows, const Target& target,
                             double batch, const std::string& run);

// When each of these finished runs reached `target`.
// Throws  UsageError: they differ in more than batch, micro-batch, rate and seed; as reached().
//         FormatError: a damaged run
std::vector<train::ReachedTarget> read_reached(const std::vector<std::filesystem::path>& runs,
                                               const Target& target);

// Fits steps to the target as a function of the batch. Rows: the batches of the runs, powers of two
// between and around them, and `batch`. Pure.
// In      `step_seconds`: of a step with a batch; 0: unknown. `hour_price`: of this machine; 0:
//         none
// Throws  UsageError: fewer than two batches
PlanTarget plan_target(const std::vector<train::ReachedTarget>& points, const Target& target,
                       std::int64_t batch,
                       const std::function<double(std::int64_t batch)>& step_seconds,
                       double hour_price);

}  // namespace winnow::app

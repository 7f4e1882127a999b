#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/plan/report.h"
#include "train/run/log/metrics.h"

namespace winnow::app {

// A target that runs are to reach: "top1=0.9", "loss:val=0.4", METRIC[:SPLIT] as --keep-best has
// it.
struct Target {
  std::string text{};
  std::string metric{};  // its name in metrics.jsonl: "val.top1"
  double value = 0;
};
// Throws  UsageError: it is none
Target parse_target(const std::string& text);

// The first evaluation of a run that reached `target`, and the one before it. Pure.
// Throws  UsageError, naming `run`: none reached it, or none has the metric
train::ReachedTarget reached(const std::vector<train::MetricsRow>& rows, const Target& target,
                             double batch, const std::string& run);

// When each of these finished runs reached `target`.
// Throws  UsageError: they differ in more than batch, micro-batch, rate and seed; as reached().
//         FormatError: a run that is damaged
std::vector<train::ReachedTarget> read_reached(const std::vector<std::filesystem::path>& runs,
                                               const Target& target);

// What such runs say of the steps to the target by the batch, with a row for their batches, for
// powers of two between and around them, and for `batch`. Pure.
// In      `step_seconds`: of a step with that batch; 0: not known. `hour_price`: of this machine;
// 0:
//         none
// Throws  UsageError: fewer than two batches
PlanTarget plan_target(const std::vector<train::ReachedTarget>& points, const Target& target,
                       std::int64_t batch,
                       const std::function<double(std::int64_t batch)>& step_seconds,
                       double hour_price);

}  // namespace winnow::app

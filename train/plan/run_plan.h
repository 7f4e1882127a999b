#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "train/plan/step_plan.h"

namespace winnow::train {

// How a run is computed, as opposed to what is computed (config.json): stored as RUN/plan.json, so
// that a run which goes on does so with the choices it began with. docs/formats/plan.md.
struct RunPlan {
  // What decides the bits of a micro-batch: threads of a lane, instruction set, libraries.
  std::map<std::string, std::string> numerics;
  // Who computes what, and the order of floating-point sums: lanes of each rank, schedule, buckets.
  std::map<std::string, std::string> layout;
  // XXH3-128 of the plans this one has taken the place of, oldest first.
  std::vector<std::string> supersedes;
  // The step of rank 0, for people; not compared.
  std::string tasks;  // JSON
};

std::string to_text(const RunPlan& plan);
RunPlan parse_plan(const std::string& text, const std::string& where);  // FormatError
std::string digest_of_plan(const std::string& text);                    // XXH3-128, hex

// Tasks of a step as JSON.
std::string tasks_json(const StepPlan& plan);

// How a run with the plan `stored` goes on where `now` is what would be chosen afresh. Pure.
struct PlanChange {
  bool changed = false;
  std::string note;  // for people, what changes and what that means; may be empty
};
// Throws UsageError when other numerics would change the weights and `replan` does not allow it.
PlanChange compare_plans(const RunPlan& stored, const RunPlan& now, bool reproducible, bool replan);

// The threads of each lane. `wished`: --lane-threads, 0: none given; `stored`: of the run's plan,
// 0: none. Without either, reproducible runs take 1, whatever the machine has; others share a
// rank's `cores` among as many lanes as it has micro-batches.
int choose_lane_threads(int wished, int stored, bool reproducible, int cores,
                        std::int64_t micro_batches);

// Micro-batches of each lane of a rank: as many lanes as its cores allow, contiguous runs that
// differ by at most one.
std::vector<int> choose_lanes(int cores, int lane_threads, std::int64_t micro_batches);

}  // namespace winnow::train

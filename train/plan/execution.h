#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/comm/schedule/schedule.h"
#include "train/graph/graph.h"
#include "train/plan/rank_stages.h"
#include "train/plan/run_plan.h"
#include "train/plan/step_tasks.h"
#include "train/reduce/exchange.h"
#include "train/reduce/gradient_layout.h"
#include "train/reduce/gradient_sum.h"

namespace winnow::train {

// The trainer's own numbers after the gradients, for each micro-batch.
enum StepTail : std::size_t { kLoss, kWeight, kCorrect, kSamples, kStop, kTailCount };
inline constexpr std::array<const char*, kTailCount> kStepTailNames{"loss", "weight", "correct",
                                                                    "samples", "stop"};
// After them, two numbers for each local head.
enum HeadTail : std::size_t { kHeadLoss, kHeadCorrect, kHeadTailCount };

// All numbers after the gradients of a graph, and their names. Pure.
std::size_t tail_count(const Graph& graph);
std::vector<std::string> tail_names(const Graph& graph);

// The values of a micro-batch that a stage of a pipeline receives and sends; 0: none.
struct HandedValues {
  std::size_t in = 0;                  // number of elements of its input "pixels"
  std::size_t out = 0;                 // number of elements of its output of kind kValue
  std::size_t made_after = 0;          // number of nodes until that output is computed
  comm::Wire wire = comm::Wire::kF32;  // the values' type, so messages are exact
};

// The work of one rank in each step: created once, from the run's plan.
struct Execution {
  GradientLayout gradients{};
  std::vector<Exchange> exchanges{};
  StepTasks tasks{};
  SumTransfers transfers{};
  std::vector<int> micro_batches{};      // for each lane
  std::int64_t total_micro_batches = 1;  // V, over all lanes of all ranks
  std::int64_t first_micro_batch = 0;    // index of this rank's first one in the batch
  int evaluation_lanes = 1;
  int batches_ahead = 1;  // number that the loader prepares
  Sums sums = Sums::kFloats;
  std::uint32_t group = 0;  // group of its all-reduces, see comm::Collective
  HandOvers hand_overs{};   // between stages of a pipeline
  HandedValues handed{};
};

// Element count of each bucket's all-reduce. bf16 messages do not include the tail. Pure.
std::vector<std::size_t> bucket_counts(const GradientLayout& gradients, Sums sums);

// The schedule for an all-reduce of `count` elements. Pure.
SizedSchedule schedule_of(const Layout& layout, std::size_t count);

// The work of rank `placement.rank` according to `plan`. Pure.
// graph         Differentiated.
// asynchronous  Its programs do not run on the CPU.
// Throws        UsageError: an unknown schedule, or invalid options for it.
Execution plan_execution(const RunPlan& plan, const Graph& graph, const comm::Placement& placement,
                         bool asynchronous);

// XXH3-64 of all transfers of a rank.
std::uint64_t digest_of_transfers(const SumTransfers& transfers);

}  // namespace winnow::train

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

// The tail: the trainer's own numbers, which are summed together with the gradients. There is one
// set for each micro-batch.
enum StepTail : std::size_t { kLoss, kWeight, kCorrect, kSamples, kStop, kTailCount };
inline constexpr std::array<const char*, kTailCount> kStepTailNames{"loss", "weight", "correct",
                                                                    "samples", "stop"};
// Two more numbers for each local head (auxiliary classifier), after those of StepTail.
enum HeadTail : std::size_t { kHeadLoss, kHeadCorrect, kHeadTailCount };

// Number of elements of a graph's tail (numbers summed after the gradients), and their names. Pure.
std::size_t tail_count(const Graph& graph);
std::vector<std::string> tail_names(const Graph& graph);

// Sizes of the values that a stage of a pipeline receives and sends for each micro-batch; 0: none.
struct HandedValues {
  std::size_t in = 0;   // number of received elements, which become the stage's input "pixels"
  std::size_t out = 0;  // number of sent elements: the stage's output of kind kValue
  std::size_t made_after = 0;  // number of nodes until the sent output is computed
  // Element type of messages: that of the values, so nothing is rounded.
  comm::Wire wire = comm::Wire::kF32;
};

// The work of one rank in each step. Created once, from the run's plan.
struct Execution {
  GradientLayout gradients{};
  std::vector<Exchange> exchanges{};
  StepTasks tasks{};
  SumTransfers transfers{};
  std::vector<int> micro_batches{};  // number of micro-batches of each lane (program replica)
  // V: number of micro-batches of a global batch, over all ranks.
  std::int64_t total_micro_batches = 1;
  std::int64_t first_micro_batch = 0;  // index of this rank's first micro-batch in the global batch
  int evaluation_lanes = 1;
  int batches_ahead = 1;  // number of batches that the loader prepares in advance
  Sums sums = Sums::kFloats;
  // Identifies the ranks that take part in the all-reduces, see comm::Collective.
  std::uint32_t group = 0;
  HandOvers hand_overs{};  // messages between stages of a pipeline
  HandedValues handed{};
};

// Returns the number of elements of each bucket's all-reduce. Messages in bf16 do not include the
// tail (the trainer's numbers after the gradients). Pure.
std::vector<std::size_t> bucket_counts(const GradientLayout& gradients, Sums sums);

// Returns the all-reduce algorithm (schedule) for `count` elements. Pure.
SizedSchedule schedule_of(const Layout& layout, std::size_t count);

// Returns the work of rank `placement.rank` according to `plan`. Pure.
// graph         Differentiated.
// asynchronous  Programs do not run on the CPU.
// Throws        UsageError: an unknown schedule, or invalid options for it.
Execution plan_execution(const RunPlan& plan, const Graph& graph, const comm::Placement& placement,
                         bool asynchronous);

// Returns the XXH3-64 of all transfers of a rank.
std::uint64_t digest_of_transfers(const SumTransfers& transfers);

}  // namespace winnow::train

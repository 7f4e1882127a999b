#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/comm/schedule/schedule.h"
#include "train/graph/graph.h"
#include "train/plan/run_plan.h"
#include "train/plan/step_tasks.h"
#include "train/reduce/exchange.h"
#include "train/reduce/gradient_layout.h"
#include "train/reduce/gradient_sum.h"

namespace winnow::train {

// The trainer's own numbers behind the gradients, of a micro-batch.
enum StepTail : std::size_t { kLoss, kWeight, kCorrect, kSamples, kStop, kTailCount };
inline constexpr std::array<const char*, kTailCount> kStepTailNames{"loss", "weight", "correct",
                                                                    "samples", "stop"};
// Behind them: two numbers of each local head.
enum HeadTail : std::size_t { kHeadLoss, kHeadCorrect, kHeadTailCount };

// All numbers behind the gradients of a graph, and their names. Pure.
std::size_t tail_count(const Graph& graph);
std::vector<std::string> tail_names(const Graph& graph);

// What one rank executes each step: made once, from the run's plan.
struct Execution {
  GradientLayout gradients{};
  std::vector<Exchange> exchanges{};
  StepTasks tasks{};
  SumTransfers transfers{};
  std::vector<int> micro_batches{};      // of each lane
  std::int64_t total_micro_batches = 1;  // V, of all lanes of all ranks
  std::int64_t first_micro_batch = 0;    // of this rank, in the batch
  int evaluation_lanes = 1;
  int batches_ahead = 1;  // that the loader prepares
  Sums sums = Sums::kFloats;
};

// Elements of the all-reduce of each bucket. Messages of bf16 leave out the tail. Pure.
std::vector<std::size_t> bucket_counts(const GradientLayout& gradients, Sums sums);

// What an all-reduce of `count` elements takes. Pure.
SizedSchedule schedule_of(const Layout& layout, std::size_t count);

// What rank `placement.rank` executes by `plan`. Pure.
// In      `graph`: differentiated. `asynchronous`: its programs are not on the CPU.
// Throws  UsageError: a schedule that is not known, or its options
Execution plan_execution(const RunPlan& plan, const Graph& graph, const comm::Placement& placement,
                         bool asynchronous);

// XXH3-64 of all transfers of a rank.
std::uint64_t digest_of_transfers(const SumTransfers& transfers);

}  // namespace winnow::train

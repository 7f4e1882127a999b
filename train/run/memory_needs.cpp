#include "train/run/memory_needs.h"

#include <algorithm>
#include <limits>

#include "common/memory_left.h"
#include "train/optim/averaging.h"
#include "train/optim/optimizer.h"
#include "train/plan/execution.h"

namespace winnow::train {
namespace {

// What libraries take while a run goes on: generated code, buffers of messages, stacks of threads.
constexpr std::size_t kForLibraries = std::size_t{96} << 20;
constexpr int kEvaluationBatchesAhead = 2;  // of one micro-batch each

std::size_t bytes_of_weights(const Graph& graph) {
  std::size_t bytes = 0;
  for (const Value& value : graph.values) {
    if (value.kind == ValueKind::kParameter || value.kind == ValueKind::kBuffer) {
      bytes += static_cast<std::size_t>(element_count(value.shape)) * sizeof(float);
    }
  }
  return bytes;
}

}  // namespace

MemoryNeeds memory_needs(const ExecutionOptions& options, const Job& job, const JobGraphs& graphs,
                         Backend& backend, int lane_threads, bool writes) {
  const BatchLayout& batches = job.batches;
  const std::size_t weights = bytes_of_weights(graphs.training);
  const std::size_t averages = (lookahead_of(job.recipe.options).every > 0 ? 1U : 0U) +
                               (ema_of(job.recipe.options).every > 0 ? 1U : 0U);
  const std::size_t stored =
      weights * (1 + find_optimizer(job.recipe.optimizer).slots.size() + averages);
  const GradientLayout gradients =
      layout_gradients(graphs.training, options.bucket_bytes, kTailCount);
  SumBytes sums = bytes_of_sums(gradients, options.reproducible);
  if (options.all_reduce.error_feedback) sums.shared += sizeof(float) * gradients.elements;
  const pipeline::Geometry geometry = geometry_of(job.setup);
  const auto image = static_cast<std::size_t>(geometry.height_px) *
                     static_cast<std::size_t>(geometry.width_px) *
                     static_cast<std::size_t>(geometry.channels);
  const auto micro_batch =
      static_cast<std::size_t>(batches.micro_batch) * static_cast<std::size_t>(views_of(job.setup));

  MemoryNeeds needs{
      .program = memory_held() + kForLibraries,
      .model = stored + sums.shared,
      .lane = sums.lane,
      .evaluation =
          image * micro_batch * static_cast<std::size_t>(batches_held(kEvaluationBatchesAhead)),
      .evaluation_lane = job.tta.empty() ? 0 : image * micro_batch,
      .checkpoint = writes ? stored : 0,
      .batch = image * static_cast<std::size_t>(batches.micro_batches()) * micro_batch};
  if (!backend.is_on_cpu()) return needs;
  const MemoryUse training = backend.memory_of(graphs.training, {options.dtype, lane_threads});
  const MemoryUse inference = backend.memory_of(
      graphs.inference,
      {options.dtype, options.reproducible ? lane_threads : options.threads.compute});
  needs.shared = training.shared_bytes;
  needs.lane += training.lane_bytes;
  needs.evaluation += inference.shared_bytes;
  needs.evaluation_lane += inference.lane_bytes;
  return needs;
}

std::size_t memory_for_rank(int local_ranks) {
  const std::uint64_t left = std::min(machine_memory_left(), group_memory_left());
  if (left == kNoMemoryLimit) return std::numeric_limits<std::size_t>::max();
  return left / static_cast<std::uint64_t>(std::max(1, local_ranks)) + memory_held();
}

}  // namespace winnow::train

#include "train/run/start/memory_needs.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "common/memory_left.h"
#include "train/optim/averaging.h"
#include "train/optim/optimizer.h"
#include "train/plan/execution.h"

namespace winnow::train {
namespace {

// Growth of the process after memory is estimated: stacks of threads, freed memory that they keep,
// message buffers, files.
constexpr std::size_t kForThreads = std::size_t{14} << 20;
constexpr int kEvaluationBatchesAhead = 2;  // one micro-batch each

std::size_t bytes_of(const Graph& graph, std::optional<ValueKind> kind = std::nullopt) {
  std::size_t bytes = 0;
  for (const Value& value : graph.values) {
    const bool kept = value.kind == ValueKind::kParameter || value.kind == ValueKind::kBuffer;
    if (!kept || (kind && value.kind != *kind)) continue;
    bytes += static_cast<std::size_t>(element_count(value.shape)) * sizeof(float);
  }
  return bytes;
}

// Size of a program's block, which consists of whole pages of 2 MiB.
std::size_t block(std::size_t bytes) {
  constexpr std::size_t kPage = std::size_t{2} << 20;
  return (bytes + kPage - 1) / kPage * kPage;
}

LaneMemory lane_of(const MemoryUse& use) {
  return {.values = block(use.lane_bytes) - use.scratch_bytes, .scratch = use.scratch_bytes};
}

// Bytes of the tensors of a graph, by purpose.
struct TensorBytes {
  std::size_t weights = 0;
  std::size_t optimizer = 0;
  std::size_t averages = 0;

  std::size_t total() const noexcept { return weights + optimizer + averages; }
};

TensorBytes bytes_of_tensors(const RecipeOptions& recipe, const Graph& graph) {
  const std::size_t weights = bytes_of(graph);
  const std::size_t slow = lookahead_of(recipe.options).every > 0 ? weights : 0;
  const std::size_t ema = ema_of(recipe.options).every > 0 ? weights : 0;
  return {.weights = weights,
          .optimizer = bytes_of(graph, ValueKind::kParameter) *
                       find_optimizer(recipe.optimizer).slots.size(),
          .averages = slow + ema};
}

// Weights, their optimiser state and averages, and gradients.
MemoryNeeds needs_of_weights(const ExecutionOptions& options, const Job& job, const Graph& graph) {
  const TensorBytes tensors = bytes_of_tensors(job.recipe, graph);
  const GradientLayout gradients =
      layout_gradients(graph, options.all_reduce.bucket_bytes, tail_count(graph));
  const SumBytes sums = bytes_of_sums(gradients, options.reproducible);
  const std::size_t lost =
      options.all_reduce.error_feedback ? sizeof(float) * gradients.elements : 0;
  return {.weights = tensors.weights,
          .optimizer = tensors.optimizer,
          .averages = tensors.averages,
          .sums = sums.shared + lost,
          .lane = {.gradients = sums.lane, .further = sums.further}};
}

// Bytes of the values of a micro-batch that a stage of a pipeline receives and sends; 0: none.
struct HandedBytes {
  std::size_t in = 0;
  std::size_t out = 0;
};

HandedBytes handed_bytes(const Graph& graph) {
  const auto bytes = [&](ValueId id) {
    return static_cast<std::size_t>(element_count(graph.value(id).shape)) * sizeof(float);
  };
  HandedBytes handed;
  const ValueId given = graph.find("pixels");
  if (graph.value(given).storage == Storage::kCompute) handed.in = bytes(given);
  for (const Output& output : graph.outputs) {
    if (output.kind == OutputKind::kValue) handed.out += bytes(output.value);
  }
  return handed;
}

// Adds what a stage receives, in training for two steps, and sends, with a copy. Where it receives
// values, its batches have no pixels.
void add_hand_overs(const HandedBytes& handed, bool evaluates, MemoryNeeds& needs) {
  needs.sums += 2 * handed.in * static_cast<std::size_t>(needs.micro_batches);
  needs.lane.gradients += 2 * handed.out;
  if (evaluates) needs.evaluation.lane.values += handed.in + 2 * handed.out;
  if (handed.in == 0) return;
  needs.batch = 0;
  needs.evaluation.batches = 0;
}

bool has_samples(const Job& job, Split split) {
  const auto found = job.data.evaluation_sets.find(split);
  return found != job.data.evaluation_sets.end() && !found->second.samples.ids.empty();
}

}  // namespace

MemoryNeeds memory_needs(const ExecutionOptions& options, const Job& job, const JobGraphs& graphs,
                         Backend& backend, bool writes) {
  const LaneOptions& lanes = options.lanes;
  const pipeline::Geometry geometry = geometry_of(job.setup);
  const auto image = static_cast<std::size_t>(geometry.height_px) *
                     static_cast<std::size_t>(geometry.width_px) *
                     static_cast<std::size_t>(geometry.channels);
  const auto micro_batch = static_cast<std::size_t>(job.batches.micro_batch) *
                           static_cast<std::size_t>(views_of(job.setup)) * image;
  MemoryNeeds needs = needs_of_weights(options, job, graphs.training);
  needs.batch = static_cast<std::size_t>(job.batches.micro_batches()) * micro_batch;
  needs.micro_batches = static_cast<int>(job.batches.micro_batches());
  const bool is_pipeline = job.ranks.is_pipeline();
  const Graph& net = is_pipeline ? job.forward : graphs.training;
  if (writes) needs.checkpoint = bytes_of_tensors(job.recipe, net).total();
  const bool evaluates = has_samples(job, Split::kVal) || has_samples(job, Split::kTest);
  if (evaluates) {
    needs.evaluation.batches =
        micro_batch * static_cast<std::size_t>(batches_held(kEvaluationBatchesAhead));
    needs.evaluation.lane.values = job.tta.empty() ? 0 : micro_batch;
    needs.evaluation.before_saving = has_samples(job, Split::kVal);
  }
  if (is_pipeline) add_hand_overs(handed_bytes(graphs.training), evaluates, needs);
  if (backend.is_on_cpu()) {
    const MemoryUse training = backend.memory_of(
        graphs.training,
        {.compute = options.dtype, .threads = lanes.threads, .choices = &lanes.kernels});
    needs.packed = block(training.shared_bytes);
    needs.lane.values = lane_of(training).values;
    needs.lane.scratch = lane_of(training).scratch;
  }
  if (backend.is_on_cpu() && evaluates) {
    const MemoryUse inference = backend.memory_of(
        graphs.inference,
        {options.dtype, options.reproducible ? lanes.threads : options.threads.compute});
    needs.evaluation.packed = block(inference.shared_bytes);
    needs.evaluation.lane.values += lane_of(inference).values;
    needs.evaluation.lane.scratch = lane_of(inference).scratch;
  }
  needs.program = memory_of_program();  // kernels are chosen, and their code is loaded
  return needs;
}

std::size_t memory_of_program() { return memory_held() + kForThreads; }

std::size_t memory_for_rank(int local_ranks, std::size_t limit) {
  const std::size_t most = limit > 0 ? limit : std::numeric_limits<std::size_t>::max();
  const std::uint64_t left = std::min(machine_memory_left(), group_memory_left());
  if (left == kNoMemoryLimit) return most;
  return std::min<std::size_t>(
      most, left / static_cast<std::uint64_t>(std::max(1, local_ranks)) + memory_held());
}

}  // namespace winnow::train

#include "train/step/executor.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "common/comm/agreement.h"
#include "common/error.h"

namespace winnow::train {
namespace {

// The trainer's own numbers behind the gradients, of a micro-batch.
enum Tail : std::size_t { kLoss, kWeight, kCorrect, kSamples, kStop, kTailCount };
constexpr std::array<const char*, kTailCount> kTailNames{"loss", "weight", "correct", "samples",
                                                         "stop"};

std::unique_ptr<GradientSum> make_sum(const Graph& graph, const GradientLayout& layout,
                                      comm::Communicator& comm, const StepOptions& options) {
  if (!options.reproducible) return make_float_sum(layout, comm, options.sum);
  std::vector<std::string> names;
  for (const GradientLayout::Slot& slot : layout.slots) {
    names.push_back(graph.value(graph.outputs[slot.output].of).name);
  }
  names.insert(names.end(), kTailNames.begin(), kTailNames.end());
  return make_fixed_point_sum(layout, std::move(names), comm, options.sum);
}

// Running statistics take the mean over the step's micro-batches, the variance unbiased as in
// PyTorch.
double scale_of(const Output& output, std::int64_t micro_batches) {
  if (output.kind == OutputKind::kGradient) return 1;
  const double scale = 1.0 / static_cast<double>(micro_batches);
  if (output.kind != OutputKind::kVariance || output.count <= 1) return scale;
  return scale * (static_cast<double>(output.count) / static_cast<double>(output.count - 1));
}

std::vector<std::vector<WeightUpdate>> updates_of_buckets(const Graph& graph,
                                                          const GradientLayout& layout,
                                                          const Model& model,
                                                          std::int64_t micro_batches) {
  std::vector<std::vector<WeightUpdate>> updates;
  for (const GradientLayout::Bucket& bucket : layout.buckets) {
    std::vector<WeightUpdate>& some = updates.emplace_back();
    for (std::size_t i = bucket.first_slot; i < bucket.last_slot; ++i) {
      const GradientLayout::Slot& slot = layout.slots[i];
      const Output& output = graph.outputs[slot.output];
      some.push_back({.tensor = model.index_of(graph.value(output.of).name),
                      .offset = slot.offset,
                      .scale = scale_of(output, micro_batches)});
    }
  }
  return updates;
}

}  // namespace

StepExecutor::Lane::Lane(Program& program_of_lane)
    : program(program_of_lane),
      feed(program),
      loss(bind_output(program, OutputKind::kLoss)),
      per_sample(bind_output(program, OutputKind::kPerSampleLoss)),
      logits(bind_output(program, OutputKind::kLogits)) {}

StepExecutor::StepExecutor(const std::vector<std::unique_ptr<Program>>& programs,
                           const Model& model, WeightStore& weights, comm::Communicator& comm,
                           StepOptions options)
    : graph_(programs.at(0)->graph()),
      weights_(weights),
      comm_(comm),
      options_(std::move(options)),
      layout_(layout_gradients(graph_, options_.bucket_bytes, kTailCount)),
      sum_(make_sum(graph_, layout_, comm, options_)),
      updates_(updates_of_buckets(graph_, layout_, model, options_.sum.total_micro_batches)),
      runner_(plan_step(layout_, graph_.nodes.size(), options_.sum.micro_batches,
                        options_.asynchronous)) {
  lanes_.reserve(programs.size());
  for (const std::unique_ptr<Program>& program : programs) {
    const std::span<float> written = sum_->written(static_cast<int>(lanes_.size()));
    Lane& lane = lanes_.emplace_back(*program);
    for (const GradientLayout::Slot& slot : layout_.slots) {
      lane.program.bind(graph_.outputs[slot.output].value,
                        written.subspan(slot.offset, slot.count));
    }
  }
  for (const Task& task : runner_.plan().tasks) {
    if (task.kind == Task::Kind::kBind) {
      lanes_[static_cast<std::size_t>(task.lane)].micro_batches.push_back(task.micro_batch);
    }
  }
}

StepResult StepExecutor::run(pipeline::Batch& batch, double total_weight, double lr,
                             std::int64_t step, bool stop) {
  using Outcome = GradientSum::Outcome;
  StepResult result;
  const Inputs inputs{batch, total_weight, lr, step, stop};
  for (;;) {
    try {
      runner_.run([&](const Task& task) { execute(task, inputs); });
    } catch (...) {
      settle();
      throw;
    }
    result.exposed_comm_seconds += exposed_seconds_;
    if (outcome_ != Outcome::kRepeat) break;
    ++result.repeats;
  }
  if (outcome_ == Outcome::kNotFinite) throw NotFiniteError(find_not_finite());
  const std::span<const float> tail = sum_->values().subspan(layout_.tail_offset);
  result.score = {.loss = tail[kLoss],
                  .weight = tail[kWeight],
                  .correct = tail[kCorrect],
                  .samples = tail[kSamples]};
  result.stop = tail[kStop] > 0;
  return result;
}

void StepExecutor::execute(const Task& task, const Inputs& inputs) {
  const auto lane = static_cast<std::size_t>(std::max(0, task.lane));
  const auto bucket = static_cast<std::size_t>(std::max(0, task.bucket));
  switch (task.kind) {
    case Task::Kind::kLoadParameters:
      lanes_[lane].program.load_parameters();
      break;
    case Task::Kind::kBind:
      lanes_[lane].given = 0;
      if (task.micro_batch == lanes_[lane].micro_batches.front()) {
        lanes_[lane].loss_is_finite = true;
        lanes_[lane].not_finite.clear();
      }
      lanes_[lane].feed.bind(inputs.batch, static_cast<std::size_t>(task.micro_batch),
                             inputs.total_weight);
      break;
    case Task::Kind::kCompute:
      lanes_[lane].program.run(task.first_node, task.last_node);
      lanes_[lane].given = task.last_node;
      break;
    case Task::Kind::kAdd:
      add(task, inputs);
      break;
    case Task::Kind::kReduce:
      sum_->reduce(bucket);
      break;
    case Task::Kind::kFinish:
      finish(inputs);
      break;
    case Task::Kind::kUpdate:
      if (outcome_ == GradientSum::Outcome::kDone) weights_.update(updates_[bucket]);
      break;
  }
}

void StepExecutor::add(const Task& task, const Inputs& inputs) {
  Lane& lane = lanes_[static_cast<std::size_t>(task.lane)];
  const auto bucket = static_cast<std::size_t>(task.bucket);
  lane.program.wait(layout_.buckets[bucket].ready_after);
  if (bucket + 1 == layout_.buckets.size()) {  // everything has run
    const auto m = static_cast<std::size_t>(task.micro_batch);
    const Score s = score(inputs.batch, m, lane.logits, lane.per_sample, {});
    if (!std::isfinite(static_cast<float>(s.loss))) note_not_finite(inputs.batch, m, lane);
    const std::span<float> tail = sum_->written(task.lane).subspan(layout_.tail_offset);
    tail[kLoss] = static_cast<float>(s.loss);
    tail[kWeight] = static_cast<float>(s.weight);
    tail[kCorrect] = static_cast<float>(s.correct);
    tail[kSamples] = static_cast<float>(s.samples);
    tail[kStop] = inputs.stop ? 1.0F : 0.0F;
  }
  sum_->add(task.lane, bucket, task.micro_batch == lane.micro_batches.front());
}

void StepExecutor::note_not_finite(const pipeline::Batch& batch, std::size_t m, Lane& lane) {
  lane.loss_is_finite = false;
  for (std::size_t i = 0; i < lane.per_sample.size(); ++i) {
    const std::size_t row = m * lane.per_sample.size() + i;
    if (batch.weights[row] > 0 && !std::isfinite(lane.per_sample[i])) {
      lane.not_finite.push_back(batch.ids[row]);
    }
  }
}

NotFiniteFindings StepExecutor::find_not_finite() const {
  NotFiniteFindings found;
  for (const Lane& lane : lanes_) {
    found.loss_is_finite = found.loss_is_finite && lane.loss_is_finite;
    found.samples.insert(found.samples.end(), lane.not_finite.begin(), lane.not_finite.end());
  }
  for (std::size_t slot = 0; slot < layout_.slots.size() && found.tensor.empty(); ++slot) {
    if (sum_->is_finite(slot)) continue;
    found.tensor = graph_.value(graph_.outputs[layout_.slots[slot].output].of).name;
  }
  return found;
}

void StepExecutor::finish(const Inputs& inputs) {
  using Clock = std::chrono::steady_clock;
  using Outcome = GradientSum::Outcome;
  const auto begin = Clock::now();
  outcome_ = sum_->finish();
  exposed_seconds_ = std::chrono::duration<double>(Clock::now() - begin).count();
  if (outcome_ == Outcome::kDone &&
      !weights_.begin_update(sum_->values(), inputs.lr, inputs.step)) {
    outcome_ = Outcome::kNotFinite;
  }
}

// After a failure in the midst of a step: what programs were given still uses the batch and the
// buffers here.
void StepExecutor::settle() noexcept {
  for (Lane& lane : lanes_) {
    try {
      lane.program.wait(lane.given);
    } catch (...) {  // nothing runs there any more; the first failure is told
    }
  }
}

}  // namespace winnow::train

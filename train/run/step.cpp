#include "train/run/step.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "common/error.h"
#include "train/run/agreement.h"

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

}  // namespace

StepExecutor::Lane::Lane(Program& program_of_lane)
    : program(program_of_lane),
      feed(program),
      loss(bind_output(program, OutputKind::kLoss)),
      per_sample(bind_output(program, OutputKind::kPerSampleLoss)),
      logits(bind_output(program, OutputKind::kLogits)) {}

StepExecutor::StepExecutor(const std::vector<std::unique_ptr<Program>>& programs, Model& model,
                           comm::Communicator& comm, StepOptions options)
    : graph_(programs.at(0)->graph()),
      model_(model),
      comm_(comm),
      options_(std::move(options)),
      layout_(layout_gradients(graph_, options_.bucket_bytes, kTailCount)),
      sum_(make_sum(graph_, layout_, comm, options_)),
      runner_(plan_step(layout_, graph_.nodes.size(), options_.sum.micro_batches)) {
  for (const GradientLayout::Slot& slot : layout_.slots) {
    tensor_of_slot_.push_back(&model_.find(graph_.value(graph_.outputs[slot.output].of).name));
  }
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

StepResult StepExecutor::run(pipeline::Batch& batch, double total_weight, double lr, bool stop) {
  using Outcome = GradientSum::Outcome;
  StepResult result;
  const Inputs inputs{batch, total_weight, lr, stop};
  for (;;) {
    runner_.run([&](const Task& task) { execute(task, inputs); });
    result.exposed_comm_seconds += exposed_seconds_;
    if (outcome_ != Outcome::kRepeat) break;
    ++result.repeats;
  }
  if (outcome_ == Outcome::kNotFinite) {
    if (comm_.rank() != 0) throw PeerError(1);  // the sums are everybody's: rank 0 tells
    throw AgreedError(
        "the loss or a gradient is not finite: lower the learning rate or lengthen the warm-up, "
        "and "
        "go on from the last checkpoint",
        1);
  }
  const std::span<const float> tail = sum_->values().subspan(layout_.tail_offset);
  result.score = {.loss = tail[kLoss],
                  .weight = tail[kWeight],
                  .correct = tail[kCorrect],
                  .samples = tail[kSamples]};
  result.stop = tail[kStop] > 0;
  return result;
}

void StepExecutor::execute(const Task& task, const Inputs& inputs) {
  using Clock = std::chrono::steady_clock;
  const auto lane = static_cast<std::size_t>(std::max(0, task.lane));
  const auto bucket = static_cast<std::size_t>(std::max(0, task.bucket));
  switch (task.kind) {
    case Task::Kind::kLoadParameters:
      lanes_[lane].program.load_parameters();
      break;
    case Task::Kind::kBind:
      lanes_[lane].feed.bind(inputs.batch, static_cast<std::size_t>(task.micro_batch),
                             inputs.total_weight);
      break;
    case Task::Kind::kCompute:
      compute(task, inputs);
      break;
    case Task::Kind::kAdd:
      sum_->add(task.lane, bucket, task.micro_batch == lanes_[lane].micro_batches.front());
      break;
    case Task::Kind::kReduce:
      sum_->reduce(bucket);
      break;
    case Task::Kind::kFinish: {
      const auto begin = Clock::now();
      outcome_ = sum_->finish();
      exposed_seconds_ = std::chrono::duration<double>(Clock::now() - begin).count();
      break;
    }
    case Task::Kind::kUpdate:
      if (outcome_ == GradientSum::Outcome::kDone) update(bucket, inputs.lr);
      break;
  }
}

void StepExecutor::compute(const Task& task, const Inputs& inputs) {
  Lane& lane = lanes_[static_cast<std::size_t>(task.lane)];
  lane.program.run(task.first_node, task.last_node);
  if (task.last_node < graph_.nodes.size()) return;
  const Score s = score(inputs.batch, static_cast<std::size_t>(task.micro_batch), lane.logits,
                        lane.per_sample, {});
  const std::span<float> tail = sum_->written(task.lane).subspan(layout_.tail_offset);
  tail[kLoss] = static_cast<float>(s.loss);
  tail[kWeight] = static_cast<float>(s.weight);
  tail[kCorrect] = static_cast<float>(s.correct);
  tail[kSamples] = static_cast<float>(s.samples);
  tail[kStop] = inputs.stop ? 1.0F : 0.0F;
}

void StepExecutor::update(std::size_t bucket, double lr) {
  const GradientLayout::Bucket& part = layout_.buckets[bucket];
  for (std::size_t i = part.first_slot; i < part.last_slot; ++i) {
    const GradientLayout::Slot& slot = layout_.slots[i];
    Model::Tensor& tensor = *tensor_of_slot_[i];
    if (tensor.rate == 0) continue;
    if (graph_.outputs[slot.output].kind == OutputKind::kGradient) {
      options_.optimizer->step({.value = tensor.data,
                                .gradient = sum_->values().subspan(slot.offset, slot.count),
                                .momentum = tensor.momentum,
                                .decay = tensor.about.decay},
                               lr * tensor.rate, options_.optimizer_options);
    } else {
      update_statistic(slot, tensor);
    }
  }
}

// running = (1 - m) running + m * mean over the step's micro-batches, the variance unbiased as in
// PyTorch.
void StepExecutor::update_statistic(const GradientLayout::Slot& slot, Model::Tensor& tensor) const {
  const Output& output = graph_.outputs[slot.output];
  double scale = 1.0 / static_cast<double>(options_.sum.total_micro_batches);
  if (output.kind == OutputKind::kVariance && output.count > 1) {
    scale *= static_cast<double>(output.count) / static_cast<double>(output.count - 1);
  }
  const std::span<const float> sum = sum_->values().subspan(slot.offset, slot.count);
  for (std::size_t i = 0; i < slot.count; ++i) {
    tensor.data[i] = static_cast<float>((1 - kStatisticsMomentum) * tensor.data[i] +
                                        kStatisticsMomentum * scale * sum[i]);
  }
}

}  // namespace winnow::train

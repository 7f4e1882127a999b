#include "train/run/step.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "common/error.h"
#include "train/run/agreement.h"

namespace winnow::train {
namespace {

// The trainer's own numbers behind the gradients.
enum Tail : std::size_t { kLoss, kWeight, kCorrect, kSamples, kTailCount };

constexpr double kStatisticsMomentum = 0.1;  // PyTorch's default of running statistics

}  // namespace

StepExecutor::StepExecutor(Program& program, Model& model, comm::Communicator& comm,
                           StepOptions options)
    : program_(program),
      model_(model),
      comm_(comm),
      options_(std::move(options)),
      layout_(layout_gradients(program.graph(), options_.bucket_bytes, kTailCount)),
      plan_(plan_step(layout_, program.graph().nodes.size(), options_.micro_batches)),
      feed_(program),
      loss_(bind_output(program, OutputKind::kLoss)),
      per_sample_(bind_output(program, OutputKind::kPerSampleLoss)),
      logits_(bind_output(program, OutputKind::kLogits)),
      sum_(layout_.elements) {
  if (options_.micro_batches > 1) micro_.resize(layout_.elements);
  const std::span<float> written = micro_.empty() ? std::span(sum_) : std::span(micro_);
  for (const GradientLayout::Slot& slot : layout_.slots) {
    const Output& output = program_.graph().outputs[slot.output];
    program_.bind(output.value, written.subspan(slot.offset, slot.count));
    tensor_of_slot_.push_back(&model_.find(program_.graph().value(output.of).name));
  }
}

StepResult StepExecutor::run(pipeline::Batch& batch, double total_weight, double lr) {
  using Clock = std::chrono::steady_clock;
  StepResult result;
  Score mine;
  std::vector<comm::Pending> reducing(layout_.buckets.size());
  // Updates come last, and none may change anything before the loss is known to be finite: it is in
  // the last bucket, so all reductions are awaited first.
  bool awaited = false;
  for (const Task& task : plan_.tasks) {
    const auto bucket = static_cast<std::size_t>(std::max(0, task.bucket));
    const GradientLayout::Bucket& part = layout_.buckets[bucket];
    switch (task.kind) {
      case Task::Kind::kLoadParameters:
        program_.load_parameters();
        break;
      case Task::Kind::kBind:
        feed_.bind(batch, static_cast<std::size_t>(task.micro_batch), total_weight);
        break;
      case Task::Kind::kCompute:
        program_.run(task.first_node, task.last_node);
        if (task.last_node == program_.graph().nodes.size()) {
          const Score s =
              score(batch, static_cast<std::size_t>(task.micro_batch), logits_, per_sample_, {});
          mine.loss += s.loss;
          mine.weight += s.weight;
          mine.correct += s.correct;
          mine.samples += s.samples;
        }
        break;
      case Task::Kind::kAccumulate: {
        const auto from = micro_.begin() + static_cast<std::ptrdiff_t>(part.offset);
        const auto to = sum_.begin() + static_cast<std::ptrdiff_t>(part.offset);
        const auto count = static_cast<std::ptrdiff_t>(part.count);
        if (task.micro_batch == 0) {
          std::copy(from, from + count, to);
        } else {
          std::transform(from, from + count, to, to, std::plus<>());
        }
        break;
      }
      case Task::Kind::kTail:
        sum_[layout_.tail_offset + kLoss] = static_cast<float>(mine.loss);
        sum_[layout_.tail_offset + kWeight] = static_cast<float>(mine.weight);
        sum_[layout_.tail_offset + kCorrect] = static_cast<float>(mine.correct);
        sum_[layout_.tail_offset + kSamples] = static_cast<float>(mine.samples);
        break;
      case Task::Kind::kReduce:
        reducing[bucket] = comm_.start_all_reduce(std::span(sum_).subspan(part.offset, part.count),
                                                  *options_.schedule, options_.schedule_options);
        break;
      case Task::Kind::kUpdate:
        if (!awaited) {
          const auto begin = Clock::now();
          for (comm::Pending& pending : reducing) pending.wait();
          result.exposed_comm_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
          awaited = true;
          if (!std::isfinite(sum_[layout_.tail_offset + kLoss])) {
            if (comm_.rank() != 0) throw PeerError(1);  // the sum is everybody's: rank 0 tells
            throw AgreedError(
                "the loss is not finite: lower the learning rate or lengthen the warm-up, and go "
                "on "
                "from the last checkpoint",
                1);
          }
        }
        update(part, lr);
        break;
    }
  }
  result.score = {.loss = sum_[layout_.tail_offset + kLoss],
                  .weight = sum_[layout_.tail_offset + kWeight],
                  .correct = sum_[layout_.tail_offset + kCorrect],
                  .samples = sum_[layout_.tail_offset + kSamples]};
  return result;
}

void StepExecutor::update(const GradientLayout::Bucket& bucket, double lr) {
  for (std::size_t i = bucket.first_slot; i < bucket.last_slot; ++i) {
    const GradientLayout::Slot& slot = layout_.slots[i];
    const bool gradient = program_.graph().outputs[slot.output].kind == OutputKind::kGradient;
    const std::span<const float> values = std::span(sum_).subspan(slot.offset, slot.count);
    Model::Tensor& tensor = *tensor_of_slot_[i];
    if (gradient) {
      options_.optimizer->step({.value = tensor.data,
                                .gradient = values,
                                .momentum = tensor.momentum,
                                .decay = tensor.about.decay},
                               lr, options_.optimizer_options);
    } else {
      update_statistic(slot, tensor);
    }
  }
}

// running = (1 - m) running + m * mean over the step's micro-batches, the variance unbiased as in
// PyTorch.
void StepExecutor::update_statistic(const GradientLayout::Slot& slot, Model::Tensor& tensor) const {
  const Output& output = program_.graph().outputs[slot.output];
  double scale = 1.0 / options_.total_micro_batches;
  if (output.kind == OutputKind::kVariance && output.count > 1) {
    scale *= static_cast<double>(output.count) / static_cast<double>(output.count - 1);
  }
  for (std::size_t i = 0; i < slot.count; ++i) {
    tensor.data[i] = static_cast<float>((1 - kStatisticsMomentum) * tensor.data[i] +
                                        kStatisticsMomentum * scale * sum_[slot.offset + i]);
  }
}

}  // namespace winnow::train

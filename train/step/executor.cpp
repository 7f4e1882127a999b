#include "train/step/executor.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "common/comm/agreement.h"
#include "common/error.h"
#include "train/graph/stages.h"

namespace winnow::train {
namespace {

std::unique_ptr<GradientSum> make_sum(const Graph& graph, const Execution& execution,
                                      comm::Communicator& comm) {
  const GradientLayout& layout = execution.gradients;
  SumOptions options{.micro_batches = execution.micro_batches,
                     .total_micro_batches = execution.total_micro_batches,
                     .transfers = &execution.transfers,
                     .wire = sends_bf16(execution.sums) ? comm::Wire::kBF16 : comm::Wire::kF32,
                     .error_feedback = execution.sums == Sums::kBF16Feedback,
                     .group = execution.group};
  if (execution.sums != Sums::kWholeNumbers)
    return make_float_sum(layout, comm, std::move(options));
  std::vector<std::string> names;
  for (const GradientLayout::Tensor& tensor : layout.tensors) {
    names.push_back(graph.value(graph.outputs[tensor.output].of).name);
  }
  std::ranges::move(tail_names(graph), std::back_inserter(names));
  return make_fixed_point_sum(layout, std::move(names), comm, std::move(options));
}

// Running statistics use the mean over the step's micro-batches; the variance is unbiased, as in
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
    for (std::size_t i = bucket.first_tensor; i < bucket.last_tensor; ++i) {
      const GradientLayout::Tensor& tensor = layout.tensors[i];
      const Output& output = graph.outputs[tensor.output];
      some.push_back({.tensor = model.index_of(graph.value(output.of).name),
                      .offset = tensor.offset,
                      .scale = scale_of(output, micro_batches),
                      .momentum = output.momentum});
    }
  }
  return updates;
}

void read_tail(std::span<const float> tail, StepResult& result) {
  result.score = {.loss = tail[kLoss],
                  .weight = tail[kWeight],
                  .correct = tail[kCorrect],
                  .samples = tail[kSamples]};
  result.stop = tail[kStop] > 0;
  result.heads.clear();
  for (std::size_t at = kTailCount; at < tail.size(); at += kHeadTailCount) {
    result.heads.push_back({.loss = tail[at + kHeadLoss], .correct = tail[at + kHeadCorrect]});
  }
}

// Whether the step must be computed again, perhaps with other loss scales.
bool may_repeat(GradientSum::Outcome outcome, const GradientSum& sum, StageGradients& gradients) {
  using Outcome = GradientSum::Outcome;
  return outcome == Outcome::kNotFinite ? gradients.lower(sum) : outcome == Outcome::kRepeat;
}

// The first micro-batch of a lane; -1 if it has none.
int first_micro_batch(const StepTasks& tasks, std::size_t lane) {
  const auto first = std::ranges::find_if(tasks.tasks, [&](const Task& task) {
    return task.kind == Task::Kind::kBind && static_cast<std::size_t>(task.lane) == lane;
  });
  return first == tasks.tasks.end() ? -1 : first->micro_batch;
}

// Nodes at which the graph turns from forward to backward and back: after the loss of each stage,
// and where the next stage begins.
std::vector<std::size_t> turns_of(const Graph& graph) {
  const std::vector<int> stages = find_stages(graph).of_node;
  std::vector<std::size_t> turns;
  for (const Output& loss : losses_of_stages(graph)) {
    if (!turns.empty()) {
      const auto stage = static_cast<int>(turns.size() + 1) / 2;
      turns.push_back(
          static_cast<std::size_t>(std::ranges::lower_bound(stages, stage) - stages.begin()));
    }
    const auto made = std::ranges::find_if(graph.nodes, [&](const Node& node) {
      return std::ranges::count(node.outputs, loss.value) > 0;
    });
    turns.push_back(static_cast<std::size_t>(made - graph.nodes.begin()) + 1);
  }
  return turns;
}

std::vector<std::span<float>> written_by_lanes(GradientSum& sum, std::size_t lanes) {
  std::vector<std::span<float>> written;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    written.push_back(sum.written(static_cast<int>(lane)));
  }
  return written;
}

}  // namespace

StepExecutor::StepExecutor(const std::vector<std::unique_ptr<Program>>& programs,
                           const Model& model, WeightStore& weights, comm::Communicator& comm,
                           Execution execution, const GradientClip& clip)
    : graph_(programs.at(0)->graph()),
      weights_(weights),
      execution_(std::move(execution)),
      gradients_(graph_, execution_.gradients),
      sum_(make_sum(graph_, execution_, comm)),
      exchanger_(programs, execution_, written_by_lanes(*sum_, programs.size()), comm),
      relay_(programs, execution_, comm),
      updates_(
          updates_of_buckets(graph_, execution_.gradients, model, execution_.total_micro_batches)),
      clip_(clip),
      exposed_(comm, execution_.group == 0),
      runner_(execution_.tasks) {
  lanes_.reserve(programs.size());
  for (const std::unique_ptr<Program>& program : programs) {
    const std::span<float> written = sum_->written(static_cast<int>(lanes_.size()));
    StepLane& lane = lanes_.emplace_back(*program);
    lane.first_micro_batch = first_micro_batch(execution_.tasks, lanes_.size() - 1);
    for (const GradientLayout::Tensor& tensor : execution_.gradients.tensors) {
      lane.program.bind(graph_.outputs[tensor.output].value,
                        written.subspan(tensor.offset, tensor.count));
    }
  }
}

StepResult StepExecutor::run(pipeline::Batch& batch, double total_weight, double lr,
                             std::int64_t step, bool stop, bool goes_on) {
  using Outcome = GradientSum::Outcome;
  StepResult result;
  const Inputs inputs{batch, total_weight, lr, step, stop};
  const std::vector<LossScale> scales_before = gradients_.scales();
  const double exchanges_before = exchanger_.waited_seconds();
  relay_.begin(goes_on);
  for (;;) {
    sum_->begin();
    try {
      runner_.run([&](const Task& task) { execute(task, inputs); });
    } catch (...) {
      wait_for_programs(lanes_);
      throw;
    }
    result.exposed += exposed_.seconds();
    if (!may_repeat(outcome_, *sum_, gradients_)) break;
    ++result.repeats;
  }
  if (outcome_ == Outcome::kNotFinite) {
    NotFiniteFindings found = find_not_finite();
    gradients_.set_scales(scales_before);  // for a run that repeats the step
    throw NotFiniteError(std::move(found));
  }
  gradients_.count_clean_step();
  result.exchange_wait = exchanger_.waited_seconds() - exchanges_before;
  if (trace_ != nullptr) trace_->end_step();
  read_tail(sum_->values().subspan(execution_.gradients.tail_offset), result);
  return result;
}

void StepExecutor::set_trace(TraceRecorder* trace) noexcept {
  trace_ = trace;
  if (trace != nullptr) trace->set_turns(turns_of(graph_));
}

double StepExecutor::gradient_norm() const {
  if (unclipped_norm_) return *unclipped_norm_;
  double norm = 0;
  for (const auto& gradients : gradients_.of(*sum_)) norm = std::hypot(norm, norm_of(gradients));
  return norm;
}

void StepExecutor::execute(const Task& task, const Inputs& inputs) {
  marks_.begin(task);
  if (trace_ == nullptr || !trace_->is_on()) return perform(task, inputs);
  trace_->record(task, [&](const Task& part) { perform(part, inputs); });
}

void StepExecutor::perform(const Task& task, const Inputs& inputs) {
  const auto lane = static_cast<std::size_t>(std::max(0, task.lane));
  const auto bucket = static_cast<std::size_t>(std::max(0, task.bucket));
  switch (task.kind) {
    case Task::Kind::kLoadParameters:
      return lanes_[lane].program.load_parameters(task.part.index, task.part.of);
    case Task::Kind::kReceive:
    case Task::Kind::kSend:
    case Task::Kind::kExpect:
      return relay_.perform(task);
    case Task::Kind::kBind:
      begin_micro_batch(lanes_[lane], task.micro_batch);
      return lanes_[lane].feed.bind(inputs.batch, static_cast<std::size_t>(task.micro_batch),
                                    inputs.total_weight, {seed_, inputs.step}, gradients_.factors(),
                                    relay_.receive(task.micro_batch));
    case Task::Kind::kCompute:
      lanes_[lane].program.run(task.first_node, task.last_node);
      lanes_[lane].given = task.last_node;
      return;
    case Task::Kind::kExchange:
      return exchanger_.run(static_cast<std::size_t>(task.exchange));
    case Task::Kind::kAwait:
      return await(task, inputs);
    case Task::Kind::kAdd:
      return add(task);
    case Task::Kind::kAddLanes:
      return sum_->add_lanes(bucket, task.part);
    case Task::Kind::kReduce:
      return sum_->reduce(bucket);
    case Task::Kind::kFinish:
      return finish();
    case Task::Kind::kRead:
      return read(task);
    case Task::Kind::kBeginUpdate:
      return begin_update(inputs);
    case Task::Kind::kUpdate:
      return update(task);
  }
}

void StepExecutor::await(const Task& task, const Inputs& inputs) {
  StepLane& lane = lanes_[static_cast<std::size_t>(task.lane)];
  const GradientLayout& layout = execution_.gradients;
  const auto bucket = static_cast<std::size_t>(task.bucket);
  lane.program.wait(layout.buckets[bucket].ready_after);
  if (bucket + 1 < layout.buckets.size()) return;  // not all nodes have run
  const std::span<float> tail = sum_->written(task.lane).subspan(layout.tail_offset);
  score_lane(lane, inputs.batch, static_cast<std::size_t>(task.micro_batch), tail);
  tail[kStop] = inputs.stop ? 1.0F : 0.0F;
}

void StepExecutor::add(const Task& task) {
  gradients_.unscale(sum_->written(task.lane), task);
  const StepLane& lane = lanes_[static_cast<std::size_t>(task.lane)];
  sum_->add(task.lane, static_cast<std::size_t>(task.bucket),
            task.micro_batch == lane.first_micro_batch, task.part);
}

NotFiniteFindings StepExecutor::find_not_finite() const {
  NotFiniteFindings found{.loss_scale = loss_scale().factor};
  for (const StepLane& lane : lanes_) {
    found.loss_is_finite = found.loss_is_finite && lane.loss_is_finite;
    found.samples.insert(found.samples.end(), lane.not_finite.begin(), lane.not_finite.end());
  }
  const std::vector<GradientLayout::Tensor>& tensors = execution_.gradients.tensors;
  for (std::size_t t = 0; t < tensors.size() && found.tensor.empty(); ++t) {
    if (sum_->is_finite(t)) continue;
    found.tensor = graph_.value(graph_.outputs[tensors[t].output].of).name;
    found.loss_scale = gradients_.factor_of(t);
  }
  return found;
}

void StepExecutor::finish() {
  exposed_.begin();
  outcome_ = sum_->finish();
  exposed_.end();
  if (trace_ != nullptr && trace_->is_on()) trace_->add_exposed(exposed_.seconds());
  finite_ = true;
}

void StepExecutor::read(const Task& task) {
  if (outcome_ == GradientSum::Outcome::kDone && !all_finite(sum_->read(task.part)))
    finite_ = false;
}

void StepExecutor::begin_update(const Inputs& inputs) {
  if (outcome_ != GradientSum::Outcome::kDone) return;
  // Done before the sums are copied to where the weights are.
  if (finite_) unclipped_norm_ = clip_by_stage(gradients_.of(*sum_), clip_);
  if (!finite_ || !weights_.begin_update(sum_->values(), inputs.lr, inputs.step, true)) {
    outcome_ = GradientSum::Outcome::kNotFinite;
  }
}

void StepExecutor::update(const Task& task) {
  if (outcome_ != GradientSum::Outcome::kDone) return;
  const std::vector<WeightUpdate>& all = updates_[static_cast<std::size_t>(task.bucket)];
  const auto edge = [&](int index) {
    return all.size() * static_cast<std::size_t>(index) / static_cast<std::size_t>(task.part.of);
  };
  const std::size_t first = edge(task.part.index);
  weights_.update(std::span(all).subspan(first, edge(task.part.index + 1) - first));
}

}  // namespace winnow::train

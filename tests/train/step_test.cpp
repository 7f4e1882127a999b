// The layout of gradients, the plan of a step, and its execution against plain arithmetic.

#include "train/run/step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "common/error.h"
#include "common/rng.h"
#include "train/graph/rewrites.h"
#include "train/nets/nets.h"

namespace winnow::train {
namespace {

constexpr std::size_t kTail = 4;

Graph training_graph(const char* net, std::int64_t batch) {
  return prune(differentiate(fuse(find_net(net).make({.batch = batch,
                                                      .channels = 1,
                                                      .height_px = 16,
                                                      .width_px = 16,
                                                      .classes = 3,
                                                      .mean = {0.5F},
                                                      .deviation = {0.25F}}))));
}

TEST(GradientLayout, HoldsEverySummedOutputOnceInReadyOrder) {
  for (const char* net : {"lenet", "resnet20"}) {
    const Graph graph = training_graph(net, 2);
    for (const std::size_t bucket_bytes :
         {std::size_t{1}, std::size_t{4096}, std::size_t{1} << 30}) {
      const GradientLayout layout = layout_gradients(graph, bucket_bytes, kTail);
      std::size_t summed = 0;
      for (const Output& o : graph.outputs) {
        summed += o.kind == OutputKind::kGradient || o.kind == OutputKind::kMean ||
                  o.kind == OutputKind::kVariance;
      }
      std::set<std::size_t> outputs;
      std::size_t at = 0;
      for (const auto& slot : layout.slots) {
        EXPECT_TRUE(outputs.insert(slot.output).second);
        EXPECT_EQ(slot.offset, at);
        at += slot.count;
      }
      EXPECT_EQ(outputs.size(), summed);
      EXPECT_EQ(layout.tail_offset, at);
      EXPECT_EQ(layout.elements, at + kTail);
      std::size_t element = 0;
      std::size_t slot = 0;
      std::size_t ready = 0;
      for (const auto& bucket : layout.buckets) {
        EXPECT_EQ(bucket.offset, element);
        EXPECT_EQ(bucket.first_slot, slot);
        EXPECT_GE(bucket.ready_after, ready);
        element += bucket.count;
        slot = bucket.last_slot;
        ready = bucket.ready_after;
      }
      EXPECT_EQ(element, layout.elements);
      EXPECT_EQ(slot, layout.slots.size());
      EXPECT_EQ(layout.buckets.size() == 1, bucket_bytes == std::size_t{1} << 30);
    }
  }
}

// A reduction may be under way in a bucket while the nodes behind it run.
TEST(GradientLayout, NoNodeTouchesABucketThatIsReady) {
  const Graph graph = training_graph("resnet20", 2);
  const GradientLayout layout = layout_gradients(graph, 1, kTail);
  int checked = 0;
  for (const auto& bucket : layout.buckets) {
    for (std::size_t s = bucket.first_slot; s < bucket.last_slot; ++s) {
      const ValueId value = graph.outputs[layout.slots[s].output].value;
      for (std::size_t n = bucket.ready_after; n < graph.nodes.size(); ++n) {
        const Node& node = graph.nodes[n];
        EXPECT_EQ(std::count(node.inputs.begin(), node.inputs.end(), value), 0) << node.name;
        EXPECT_EQ(std::count(node.outputs.begin(), node.outputs.end(), value), 0) << node.name;
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 100);
}

// Walks a plan as an executor would and checks that nothing is read before it is written.
void expect_sound(const StepPlan& plan, const GradientLayout& layout, std::size_t nodes,
                  int micro_batches) {
  std::vector<int> summed(layout.buckets.size(), 0);
  std::vector<bool> reduced(layout.buckets.size(), false);
  std::vector<bool> updated(layout.buckets.size(), false);
  std::size_t node = 0;
  int bound = -1;
  for (std::size_t t = 0; t < plan.tasks.size(); ++t) {
    const Task& task = plan.tasks[t];
    for (const int after : task.after) EXPECT_LT(after, static_cast<int>(t));
    const auto b = static_cast<std::size_t>(std::max(0, task.bucket));
    switch (task.kind) {
      case Task::Kind::kLoadParameters:
        EXPECT_EQ(t, 0U);
        break;
      case Task::Kind::kBind:
        EXPECT_EQ(task.micro_batch, bound + 1);
        EXPECT_TRUE(bound < 0 || node == nodes);
        for (const int count : summed) EXPECT_EQ(count, std::max(0, bound + 1));
        bound = task.micro_batch;
        node = 0;
        break;
      case Task::Kind::kCompute:
        EXPECT_EQ(task.micro_batch, bound);
        EXPECT_EQ(task.first_node, node);
        node = task.last_node;
        break;
      case Task::Kind::kAccumulate:
        EXPECT_GE(node, layout.buckets[b].ready_after);
        EXPECT_EQ(summed[b]++, bound);
        break;
      case Task::Kind::kTail:
        EXPECT_EQ(node, nodes);
        EXPECT_EQ(b + 1, layout.buckets.size());
        break;
      case Task::Kind::kReduce:
        EXPECT_EQ(bound, micro_batches - 1);
        EXPECT_GE(node, layout.buckets[b].ready_after);
        EXPECT_EQ(summed[b], micro_batches > 1 ? micro_batches : 0);
        EXPECT_FALSE(reduced[b]);
        reduced[b] = true;
        break;
      case Task::Kind::kUpdate:
        EXPECT_EQ(node, nodes);
        EXPECT_TRUE(reduced[b]);
        EXPECT_FALSE(updated[b]);
        updated[b] = true;
        break;
    }
  }
  EXPECT_EQ(bound, micro_batches - 1);
  for (const bool done : updated) EXPECT_TRUE(done);
}

TEST(StepPlan, IsSoundForAnyBucketsAndMicroBatches) {
  const Graph graph = training_graph("resnet20", 2);
  for (const std::size_t bucket_bytes :
       {std::size_t{1}, std::size_t{100'000}, std::size_t{1} << 30}) {
    const GradientLayout layout = layout_gradients(graph, bucket_bytes, kTail);
    for (const int micro_batches : {1, 2, 5}) {
      expect_sound(plan_step(layout, graph.nodes.size(), micro_batches), layout, graph.nodes.size(),
                   micro_batches);
    }
  }
}

TEST(StepPlan, ReducesWhileBackwardGoesOn) {
  const Graph graph = training_graph("resnet20", 2);
  const GradientLayout layout = layout_gradients(graph, 65'536, kTail);
  const StepPlan plan = plan_step(layout, graph.nodes.size(), 1);
  bool reduced = false;
  bool overlapped = false;
  for (const Task& task : plan.tasks) {
    reduced = reduced || task.kind == Task::Kind::kReduce;
    overlapped = overlapped || (reduced && task.kind == Task::Kind::kCompute);
  }
  EXPECT_TRUE(overlapped);
}

pipeline::Batch random_batch(const Graph& graph, std::size_t samples) {
  const Shape& shape = graph.value(graph.find("pixels")).shape;
  const auto per_sample = static_cast<std::size_t>(shape[1] * shape[2] * shape[3]);
  CounterRng rng(1, 0, 0, RandomUse::kTest);
  pipeline::Batch batch;
  batch.channels = static_cast<int>(shape[1]);
  batch.height_px = static_cast<int>(shape[2]);
  batch.width_px = static_cast<int>(shape[3]);
  batch.label_offsets.push_back(0);
  for (std::size_t i = 0; i < samples; ++i) {
    for (std::size_t k = 0; k < per_sample; ++k) {
      batch.pixels.push_back(static_cast<std::uint8_t>(rng.below(256)));
    }
    batch.ids.push_back(i);
    batch.weights.push_back(i % 3 == 0 ? 0.5F : 1.0F);
    batch.labels.push_back(static_cast<std::int32_t>(rng.below(3)));
    batch.label_offsets.push_back(static_cast<std::uint32_t>(i + 1));
    batch.groups.push_back(0);
  }
  return batch;
}

double weight_of(const pipeline::Batch& batch) {
  double sum = 0;
  for (const float w : batch.weights) sum += w;
  return sum;
}

StepOptions plain_sgd(int micro_batches, std::size_t bucket_bytes) {
  return {.optimizer = &find_optimizer("sgd"),
          .optimizer_options = {.momentum = 0, .weight_decay = 0, .nesterov = false},
          .schedule = &comm::find_schedule("multicolor"),
          .schedule_options = {},
          .bucket_bytes = bucket_bytes,
          .micro_batches = micro_batches,
          .total_micro_batches = micro_batches};
}

// One step on the float64 reference, its micro-batches and buckets cut in different ways.
Model one_step(const char* net, std::size_t samples, int micro_batches, std::size_t bucket_bytes,
               StepResult* result) {
  const Graph graph = training_graph(net, static_cast<std::int64_t>(samples) / micro_batches);
  const auto program = make_backend("reference")->compile(graph, {});
  Model model = make_model(graph, 7);
  bind_model(*program, model);
  const auto comm = comm::make_single();
  StepExecutor executor(*program, model, *comm, plain_sgd(micro_batches, bucket_bytes));
  pipeline::Batch batch = random_batch(graph, samples);
  *result = executor.run(batch, weight_of(batch), 0.1);
  return model;
}

TEST(StepExecutor, MicroBatchesAndBucketsDoNotChangeWhatANetWithoutBatchNormLearns) {
  StepResult whole{};
  const Model expected = one_step("lenet", 6, 1, std::size_t{1} << 30, &whole);
  EXPECT_EQ(whole.score.samples, 6);
  EXPECT_NEAR(whole.score.loss / whole.score.weight, std::log(3.0), 1.0);
  for (const int micro_batches : {2, 3, 6}) {
    StepResult cut{};
    const Model got = one_step("lenet", 6, micro_batches, 1, &cut);
    EXPECT_NEAR(cut.score.loss, whole.score.loss, 1e-5);
    EXPECT_EQ(cut.score.correct, whole.score.correct);
    for (std::size_t t = 0; t < expected.tensors.size(); ++t) {
      for (std::size_t i = 0; i < expected.tensors[t].data.size(); ++i) {
        EXPECT_NEAR(got.tensors[t].data[i], expected.tensors[t].data[i], 1e-6);
      }
    }
  }
}

TEST(StepExecutor, RunningStatisticsMoveATenthTowardsTheMeanOverMicroBatches) {
  const std::size_t samples = 4;
  const Graph graph = training_graph("resnet20", 2);
  const auto program = make_backend("reference")->compile(graph, {});
  Model model = make_model(graph, 7);
  bind_model(*program, model);
  const auto comm = comm::make_single();
  StepExecutor executor(*program, model, *comm, plain_sgd(2, 1 << 20));
  pipeline::Batch batch = random_batch(graph, samples);
  executor.run(batch, weight_of(batch), 0.1);

  // The first convolution's output, by a second program that stops at its statistics.
  Model fresh = make_model(graph, 7);
  const auto other = make_backend("reference")->compile(graph, {});
  bind_model(*other, fresh);
  other->load_parameters();
  Feed feed(*other);
  std::vector<std::vector<float>> outputs(graph.outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].resize(
        static_cast<std::size_t>(element_count(graph.value(graph.outputs[i].value).shape)));
    other->bind(graph.outputs[i].value, std::span(outputs[i]));
  }
  std::vector<std::vector<double>> mean(outputs.size());
  for (std::size_t m = 0; m < 2; ++m) {
    feed.bind(batch, m, weight_of(batch));
    other->run(0, graph.nodes.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      mean[i].resize(outputs[i].size());
      for (std::size_t k = 0; k < outputs[i].size(); ++k) mean[i][k] += outputs[i][k] / 2;
    }
  }
  int compared = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Output& o = graph.outputs[i];
    if (o.kind != OutputKind::kMean && o.kind != OutputKind::kVariance) continue;
    const bool variance = o.kind == OutputKind::kVariance;
    const double start = variance ? 1 : 0;
    const double n = static_cast<double>(o.count);
    const Model::Tensor& running = model.find(graph.value(o.of).name);
    for (std::size_t k = 0; k < mean[i].size(); ++k) {
      const double want = 0.9 * start + 0.1 * mean[i][k] * (variance ? n / (n - 1) : 1);
      EXPECT_NEAR(running.data[k], want, 1e-5 * std::max(1.0, std::abs(want)));
      ++compared;
    }
  }
  EXPECT_GT(compared, 100);
}

TEST(StepExecutor, ANotFiniteLossStopsBeforeAnythingChanges) {
  const Graph graph = training_graph("lenet", 2);
  const auto program = make_backend("reference")->compile(graph, {});
  Model model = make_model(graph, 7);
  bind_model(*program, model);
  model.find("fc2.bias").data[0] = std::nanf("");
  const auto comm = comm::make_single();
  StepExecutor executor(*program, model, *comm, plain_sgd(1, 1 << 20));
  pipeline::Batch batch = random_batch(graph, 2);
  const std::vector<float> before = model.find("conv1.weight").data;
  EXPECT_THROW(executor.run(batch, weight_of(batch), 0.1), Error);
  EXPECT_EQ(model.find("conv1.weight").data, before);
}

TEST(Feed, RefusesSamplesWithoutOneLabel) {
  const Graph graph = training_graph("lenet", 2);
  const auto program = make_backend("reference")->compile(graph, {});
  Feed feed(*program);
  pipeline::Batch batch = random_batch(graph, 2);
  batch.labels[1] = 3;
  EXPECT_THROW(feed.bind(batch, 0, 2), UsageError);
  batch.labels[1] = 2;
  EXPECT_NO_THROW(feed.bind(batch, 0, 2));
  batch.label_offsets = {0, 2, 2};
  EXPECT_THROW(feed.bind(batch, 0, 2), UsageError);
}

TEST(Model, StateDictRoundTripAndRefusals) {
  const Graph graph = training_graph("resnet20", 2);
  Model model = make_model(graph, 7);
  const auto tensors = to_state_dict(model, 5);
  std::size_t tracked = 0;
  for (const NamedTensor& t : tensors) tracked += t.name.ends_with(".num_batches_tracked");
  EXPECT_GT(tracked, 10U);
  Model other = make_model(graph, 8);
  EXPECT_NE(other.find("conv1.weight").data, model.find("conv1.weight").data);
  load_state_dict(other, tensors, "it");
  for (std::size_t t = 0; t < model.tensors.size(); ++t) {
    EXPECT_EQ(other.tensors[t].data, model.tensors[t].data);
  }
  auto wrong = tensors;
  wrong[0].shape.push_back(1);
  EXPECT_THROW(load_state_dict(other, wrong, "it"), FormatError);
  wrong.erase(wrong.begin());
  EXPECT_THROW(load_state_dict(other, wrong, "it"), FormatError);
}

}  // namespace
}  // namespace winnow::train

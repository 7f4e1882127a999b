// The layout of gradients, the plan of a step, and its execution against plain arithmetic.

#include "train/step/executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include "common/comm/agreement.h"
#include "common/error.h"
#include "common/rng.h"
#include "deferred_backend.h"
#include "train/rewrites/rewrites.h"
#include "train/nets/nets.h"
#include "train/model/state_dict.h"

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
                                                      .stddev = {0.25F}}))));
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
                  const std::vector<int>& micro_batches) {
  struct Lane {
    int first = 0;  // of the rank's micro-batches
    int bound = -1;
    std::size_t node = 0;
    std::vector<int> added;
  };
  std::vector<Lane> lanes;
  int first = 0;
  for (const int count : micro_batches) {
    lanes.push_back({.first = first, .added = std::vector<int>(layout.buckets.size(), 0)});
    first += count;
  }
  // Whether task t may run only after task `before` has.
  const auto follows = [&](std::size_t t, std::size_t before) {
    std::vector<std::size_t> open{t};
    std::set<std::size_t> seen;
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      if (at == before) return true;
      for (const int after : plan.tasks[at].after) {
        if (seen.insert(static_cast<std::size_t>(after)).second) {
          open.push_back(static_cast<std::size_t>(after));
        }
      }
    }
    return false;
  };
  int reduced = 0;
  std::size_t updated = 0;
  std::size_t finish = 0;
  std::vector<std::vector<std::size_t>> last_add(layout.buckets.size());
  std::vector<std::size_t> last_of_lane(lanes.size(), plan.tasks.size());
  for (std::size_t t = 0; t < plan.tasks.size(); ++t) {
    const Task& task = plan.tasks[t];
    for (const int after : task.after) EXPECT_LT(after, static_cast<int>(t));
    const auto b = static_cast<std::size_t>(std::max(0, task.bucket));
    Lane* lane = task.lane == kAnyLane ? nullptr : &lanes.at(static_cast<std::size_t>(task.lane));
    if (lane != nullptr) {
      auto& last = last_of_lane[static_cast<std::size_t>(task.lane)];
      EXPECT_TRUE(last == plan.tasks.size() || follows(t, last)) << "a lane does one at a time";
      last = t;
    }
    switch (task.kind) {
      case Task::Kind::kLoadParameters:
        EXPECT_EQ(lane->bound, -1);
        break;
      case Task::Kind::kBind:
        EXPECT_EQ(task.micro_batch, lane->first + lane->bound + 1);
        EXPECT_TRUE(lane->bound < 0 || lane->node == nodes);
        for (const int count : lane->added) EXPECT_EQ(count, lane->bound + 1);
        ++lane->bound;
        lane->node = 0;
        break;
      case Task::Kind::kCompute:
        EXPECT_EQ(task.first_node, lane->node);
        lane->node = task.last_node;
        break;
      case Task::Kind::kAdd:
        EXPECT_GE(lane->node, layout.buckets[b].ready_after);
        EXPECT_EQ(lane->added[b]++, lane->bound);
        last_add[b].push_back(t);
        break;
      case Task::Kind::kReduce:
        EXPECT_EQ(task.bucket, reduced++) << "the same order on every rank";
        for (const std::size_t add : last_add[b]) EXPECT_TRUE(follows(t, add));
        EXPECT_TRUE(b == 0 || follows(t, finish));
        finish = t;  // for now: the reduction before
        break;
      case Task::Kind::kFinish:
        EXPECT_EQ(reduced, static_cast<int>(layout.buckets.size()));
        EXPECT_TRUE(follows(t, finish));
        finish = t;
        for (const std::size_t last : last_of_lane) EXPECT_TRUE(follows(t, last));
        break;
      case Task::Kind::kUpdate:
        EXPECT_EQ(b, updated++);
        EXPECT_TRUE(follows(t, finish));
        break;
    }
  }
  EXPECT_EQ(updated, layout.buckets.size());
  for (std::size_t l = 0; l < lanes.size(); ++l) {
    EXPECT_EQ(lanes[l].bound, micro_batches[l] - 1);
    EXPECT_EQ(lanes[l].node, nodes);
  }
}

TEST(StepPlan, IsSoundForAnyBucketsAndMicroBatches) {
  const Graph graph = training_graph("resnet20", 2);
  for (const std::size_t bucket_bytes :
       {std::size_t{1}, std::size_t{100'000}, std::size_t{1} << 30}) {
    const GradientLayout layout = layout_gradients(graph, bucket_bytes, kTail);
    for (const std::vector<int>& micro_batches :
         {std::vector{1}, {2}, {5}, {1, 1}, {3, 2}, {2, 2, 1}}) {
      for (const bool asynchronous : {false, true}) {
        expect_sound(plan_step(layout, graph.nodes.size(), micro_batches, asynchronous), layout,
                     graph.nodes.size(), micro_batches);
      }
    }
  }
}

TEST(StepPlan, ReducesWhileBackwardGoesOn) {
  const Graph graph = training_graph("resnet20", 2);
  const GradientLayout layout = layout_gradients(graph, 65'536, kTail);
  const StepPlan plan = plan_step(layout, graph.nodes.size(), std::vector{1});
  // What of backward needs not wait for the first reduction: it can go on beside it.
  std::size_t beside = 0;
  const auto first = std::ranges::find(plan.tasks, Task::Kind::kReduce, &Task::kind);
  const int added = first->after.front();
  for (std::size_t t = static_cast<std::size_t>(added); t < plan.tasks.size(); ++t) {
    beside += plan.tasks[t].kind == Task::Kind::kCompute;
  }
  EXPECT_GT(beside, 3U);
}

// So that a card never waits for the host between two buckets.
TEST(StepPlan, GivesAsynchronousProgramsAllOfAMicroBatchAtOnce) {
  const Graph graph = training_graph("resnet20", 2);
  const GradientLayout layout = layout_gradients(graph, 65'536, kTail);
  const StepPlan plan = plan_step(layout, graph.nodes.size(), std::vector{2}, true);
  std::vector<Task::Kind> kinds;
  for (const Task& task : plan.tasks) {
    if (task.micro_batch == 1) kinds.push_back(task.kind);
  }
  std::vector<Task::Kind> expected{Task::Kind::kBind};
  const auto buckets = static_cast<std::ptrdiff_t>(layout.buckets.size());
  ASSERT_GT(buckets, 3);
  expected.insert(expected.end(),
                  static_cast<std::size_t>(std::ranges::count(kinds, Task::Kind::kCompute)),
                  Task::Kind::kCompute);
  expected.insert(expected.end(), static_cast<std::size_t>(buckets), Task::Kind::kAdd);
  EXPECT_EQ(kinds, expected);
  EXPECT_GT(std::ranges::count(kinds, Task::Kind::kCompute), 3);
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
    batch.label_weights.push_back(1);
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

StepOptions cut_into(std::vector<int> micro_batches, std::size_t bucket_bytes,
                     bool reproducible = false) {
  const int total = std::accumulate(micro_batches.begin(), micro_batches.end(), 0);
  return {.bucket_bytes = bucket_bytes,
          .reproducible = reproducible,
          .sum = {.schedule = &comm::find_schedule("multicolor"),
                  .schedule_options = {},
                  .micro_batches = std::move(micro_batches),
                  .total_micro_batches = total}};
}

const UpdateRule kPlainSgd{UpdateKind::kSgd, {.momentum = 0, .weight_decay = 0, .nesterov = false}};

using MakeBackend = std::function<std::unique_ptr<Backend>()>;
std::unique_ptr<Backend> reference() { return make_backend("reference"); }

// A net that takes steps, on the float64 reference where nothing else is said.
struct Learner {
  Learner(const Graph& graph, StepOptions options, const MakeBackend& make = reference)
      : Learner(graph, make_model(graph, 7), std::move(options), make) {}

  Learner(const Graph& graph, Model start, StepOptions options, const MakeBackend& make = reference)
      : backend(make()),
        model(std::move(start)),
        weights(place_weights(*backend, model, kPlainSgd)) {
    options.asynchronous = !backend->is_on_cpu();
    for (std::size_t lane = 0; lane < options.sum.micro_batches.size(); ++lane) {
      programs.push_back(backend->compile(graph, {}));
      weights->bind(*programs.back());
    }
    weights->load();
    executor = std::make_unique<StepExecutor>(programs, model, *weights, *comm, std::move(options));
  }

  StepResult step(pipeline::Batch& batch, double lr = 0.1, bool stop = false) {
    return executor->run(batch, weight_of(batch), lr, steps++, stop);
  }

  std::unique_ptr<comm::Communicator> comm = comm::make_single();
  std::unique_ptr<Backend> backend;
  Model model;
  std::unique_ptr<Weights> weights;
  std::vector<std::unique_ptr<Program>> programs;
  std::unique_ptr<StepExecutor> executor;
  std::int64_t steps = 0;
};

// A few steps, cut into lanes, micro-batches and buckets in different ways.
Model some_steps(const char* net, std::size_t samples, const StepOptions& options, int steps,
                 StepResult* result, const MakeBackend& make = reference) {
  const Graph graph =
      training_graph(net, static_cast<std::int64_t>(samples) / options.sum.total_micro_batches);
  Learner learner(graph, options, make);
  pipeline::Batch batch = random_batch(graph, samples);
  for (int step = 0; step < steps; ++step) *result = learner.step(batch);
  learner.weights->store();
  return std::move(learner.model);
}

std::vector<std::vector<float>> data_of(const Model& model) {
  std::vector<std::vector<float>> all;
  for (const Model::Tensor& t : model.tensors) all.push_back(t.data);
  return all;
}

TEST(StepExecutor, MicroBatchesAndBucketsDoNotChangeWhatANetWithoutBatchNormLearns) {
  StepResult whole{};
  const Model expected = some_steps("lenet", 6, cut_into({1}, std::size_t{1} << 30), 1, &whole);
  EXPECT_EQ(whole.score.samples, 6);
  EXPECT_NEAR(whole.score.loss / whole.score.weight, std::log(3.0), 1.0);
  for (const StepOptions& options :
       {cut_into({2}, 1), cut_into({3}, 1), cut_into({6}, 1), cut_into({2, 1}, 1),
        cut_into({2, 2, 2}, 4096), cut_into({3, 3}, 4096, true)}) {
    StepResult cut{};
    const Model got = some_steps("lenet", 6, options, 1, &cut);
    EXPECT_NEAR(cut.score.loss, whole.score.loss, 1e-5);
    EXPECT_EQ(cut.score.correct, whole.score.correct);
    for (std::size_t t = 0; t < expected.tensors.size(); ++t) {
      for (std::size_t i = 0; i < expected.tensors[t].data.size(); ++i) {
        EXPECT_NEAR(got.tensors[t].data[i], expected.tensors[t].data[i], 1e-6);
      }
    }
  }
}

// Two lanes on one core take turns as they like; the sums must not care.
TEST(StepExecutor, RepeatsToTheBitAndReproduciblyAcrossLanesAndBuckets) {
  StepResult result{};
  const auto run = [&](const std::vector<int>& lanes, std::size_t bucket, bool reproducible) {
    return data_of(some_steps("resnet20", 6, cut_into(lanes, bucket, reproducible), 3, &result));
  };
  EXPECT_EQ(run({2, 1}, 4096, false), run({2, 1}, 4096, false));
  const auto expected = run({3}, 1 << 20, true);
  EXPECT_NE(expected, run({3}, 1 << 20, false));
  for (const std::vector<int>& lanes : {std::vector{2, 1}, {1, 1, 1}}) {
    EXPECT_EQ(run(lanes, 1, true), expected);
    EXPECT_EQ(run(lanes, 1 << 20, true), expected);
  }
}

TEST(StepExecutor, ALargerGradientThanForeseenRepeatsTheStep) {
  const Graph graph = training_graph("lenet", 2);
  Learner learner(graph, cut_into({1}, 1 << 20, true));
  StepExecutor& executor = *learner.executor;
  pipeline::Batch batch = random_batch(graph, 2);
  EXPECT_EQ(learner.step(batch).repeats, 1);  // nothing is foreseen
  EXPECT_EQ(learner.step(batch).repeats, 0);
  const auto before = executor.state();
  // A hundredth of the weight makes each gradient a hundred times as large.
  EXPECT_EQ(executor.run(batch, weight_of(batch) / 100, 1e-6, 2, false).repeats, 1);
  EXPECT_GT(executor.state().at("fc2.bias"), before.at("fc2.bias") + 5);

  // From the state alone the next step has the same bits.
  Learner resumed(graph, learner.model, cut_into({1}, 1, true));
  resumed.executor->restore(executor.state());
  learner.step(batch);
  EXPECT_EQ(resumed.step(batch).repeats, 0);
  EXPECT_EQ(data_of(resumed.model), data_of(learner.model));
}

TEST(StepExecutor, TellsEveryRankToStop) {
  const Graph graph = training_graph("lenet", 2);
  for (const bool reproducible : {false, true}) {
    Learner learner(graph, cut_into({2}, 1, reproducible));
    pipeline::Batch batch = random_batch(graph, 4);
    EXPECT_FALSE(learner.step(batch, 0.1, false).stop);
    EXPECT_TRUE(learner.step(batch, 0.1, true).stop);
  }
}

TEST(StepExecutor, ATensorOfRateZeroStaysAndOthersMoveByTheirFactor) {
  const Graph graph = training_graph("resnet20", 2);
  const auto moved = [&](double rate, const std::string& name) {
    Model model = make_model(graph, 7);
    const std::vector<float> before = model.find(name).data;
    model.find(name).rate = rate;
    Learner learner(graph, std::move(model), cut_into({1}, 1 << 20));
    pipeline::Batch batch = random_batch(graph, 2);
    learner.step(batch);
    double sum = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      sum += std::abs(static_cast<double>(learner.model.find(name).data[i]) - before[i]);
    }
    return sum;
  };
  EXPECT_EQ(moved(0, "fc.weight"), 0);
  EXPECT_EQ(moved(0, "bn1.running_mean"), 0);
  EXPECT_GT(moved(1, "bn1.running_mean"), 0);
  const double whole = moved(1, "fc.weight");
  EXPECT_GT(whole, 0);
  EXPECT_NEAR(moved(0.25, "fc.weight"), whole / 4, 1e-4 * whole);
}

TEST(StepExecutor, RunningStatisticsMoveATenthTowardsTheMeanOverMicroBatches) {
  const std::size_t samples = 4;
  const Graph graph = training_graph("resnet20", 2);
  Learner learner(graph, cut_into({2}, 1 << 20));
  pipeline::Batch batch = random_batch(graph, samples);
  learner.step(batch);

  // The first convolution's output, by a second program that stops at its statistics.
  Model fresh = make_model(graph, 7);
  const auto backend = reference();
  const auto other = backend->compile(graph, {});
  const auto weights = place_weights(*backend, fresh);
  weights->bind(*other);
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
    const Model::Tensor& running = learner.model.find(graph.value(o.of).name);
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
  for (const bool reproducible : {false, true}) {
    Model model = make_model(graph, 7);
    model.find("fc2.bias").data[0] = std::nanf("");
    Learner learner(graph, std::move(model), cut_into({1}, 1 << 20, reproducible));
    pipeline::Batch batch = random_batch(graph, 2);
    const std::vector<float> before = learner.model.find("conv1.weight").data;
    EXPECT_THROW(learner.step(batch), comm::AgreedError);
    EXPECT_EQ(learner.model.find("conv1.weight").data, before);
  }
}

// The weights enter the loss divided by their sum, which alone is too large.
TEST(StepExecutor, ANotFiniteNumberOfTheTrainersOwnStopsAsWell) {
  const Graph graph = training_graph("lenet", 2);
  for (const bool reproducible : {false, true}) {
    Learner learner(graph, cut_into({1}, 1, reproducible));
    pipeline::Batch batch = random_batch(graph, 2);
    batch.weights = {3e38F, 3e38F};
    const auto before = data_of(learner.model);
    EXPECT_THROW(learner.step(batch), comm::AgreedError);
    EXPECT_EQ(data_of(learner.model), before);
  }
}

TEST(StepExecutor, ProgramsThatRunLaterComputeTheSame) {
  const auto deferred = [] { return make_deferred_backend(std::make_shared<DeferredState>()); };
  for (const int micro_batches : {1, 3}) {
    for (const std::size_t bucket_bytes :
         {std::size_t{1}, std::size_t{4096}, std::size_t{1} << 30}) {
      for (const bool reproducible : {false, true}) {
        const StepOptions options = cut_into({micro_batches}, bucket_bytes, reproducible);
        StepResult want{};
        StepResult got{};
        const auto expected = data_of(some_steps("resnet20", 6, options, 2, &want));
        EXPECT_EQ(data_of(some_steps("resnet20", 6, options, 2, &got, deferred)), expected);
        EXPECT_EQ(got.score.loss, want.score.loss);
        EXPECT_EQ(got.score.correct, want.score.correct);
        EXPECT_EQ(got.repeats, want.repeats);
      }
    }
  }
}

TEST(StepExecutor, NothingRunsAnyMoreAfterAFailure) {
  const Graph graph = training_graph("lenet", 2);
  const auto state = std::make_shared<DeferredState>();
  Learner learner(graph, cut_into({2}, 1), [&] { return make_deferred_backend(state); });
  pipeline::Batch batch = random_batch(graph, 4);
  for (const int wait : {1, 3}) {
    state->failing_wait = wait;
    EXPECT_THROW(learner.step(batch), Error);
    EXPECT_EQ(state->unfinished, 0);
  }
  EXPECT_NO_THROW(learner.step(batch));
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

TEST(Feed, MixedSamplesHaveTwoLabels) {
  Graph graph = training_graph("lenet", 2);
  const auto program = make_backend("reference")->compile(graph, {});
  Feed feed(*program);
  pipeline::Batch batch = random_batch(graph, 2);
  batch.weights = {1, 1};
  batch.mix = {0.25, std::nullopt};
  batch.partners = {1, 0};
  batch.labels = {2, 0, 1, 1};
  batch.label_weights = {0.25F, 0.75F, 0.25F, 0.75F};
  batch.label_offsets = {0, 2, 4};
  feed.bind(batch, 0, 2);
  const std::vector<float> want{0.75F, 0, 0.25F, 0, 1, 0};
  EXPECT_EQ(std::vector(feed.targets().begin(), feed.targets().end()), want);
  // What counts as right is the label of the larger share.
  const std::vector<float> logits{1, 0, 0, 0, 1, 0};
  std::vector<std::int32_t> predictions(2);
  EXPECT_EQ(score(batch, 0, logits, std::vector<float>(2), predictions).correct, 2);
  EXPECT_EQ(
      score(batch, 0, std::vector<float>{0, 0, 1, 0, 0, 1}, std::vector<float>(2), {}).correct, 0);
  batch.label_offsets = {0, 3, 4};
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

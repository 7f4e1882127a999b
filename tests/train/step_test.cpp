// The layout of gradients, the plan of a step, and its execution compared with plain arithmetic.

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
#include "learner.h"
#include "train/model/state_dict.h"
#include "train/nets/nets.h"
#include "train/rewrites/rewrites.h"
#include "train/step/executor.h"

namespace winnow::train::step_test {

constexpr std::size_t kTail = 4;

// Logits that are not finite count neither for the first class nor for any that the label names.
TEST(Score, LogitsThatAreNotFiniteAreNoHit) {
  const float nan = std::nanf("");
  for (const std::size_t classes : {1U, 2U, 3U}) {
    pipeline::Batch batch;
    batch.label_offsets = {0};
    std::vector<float> logits;
    std::vector<std::int32_t> predictions;
    for (std::size_t label = 0; label < classes; ++label) {
      for (const float value : {nan, HUGE_VALF, -HUGE_VALF}) {
        for (std::size_t k = 0; k < classes; ++k) logits.push_back(k == label ? value : -1.0F);
        batch.labels.push_back(static_cast<std::int32_t>(label));
        batch.label_weights.push_back(1);
        batch.label_offsets.push_back(static_cast<std::uint32_t>(batch.labels.size()));
        batch.weights.push_back(1);
        predictions.push_back(-1);
      }
    }
    const std::vector<float> losses(batch.labels.size(), 1.0F);
    const Score found = score(batch, 0, logits, losses, predictions);
    EXPECT_EQ(found.samples, static_cast<double>(batch.labels.size()));
    EXPECT_EQ(found.correct, 0);
    for (std::size_t i = 0; classes > 1 && i < predictions.size(); ++i) {
      EXPECT_NE(predictions[i], batch.labels[i]);
      EXPECT_GE(predictions[i], 0);
    }
  }
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
      for (const auto& tensor : layout.tensors) {
        EXPECT_TRUE(outputs.insert(tensor.output).second);
        EXPECT_EQ(tensor.offset, at);
        at += tensor.count;
      }
      EXPECT_EQ(outputs.size(), summed);
      EXPECT_EQ(layout.tail_offset, at);
      EXPECT_EQ(layout.elements, at + kTail);
      std::size_t element = 0;
      std::size_t tensor = 0;
      std::size_t ready = 0;
      for (const auto& bucket : layout.buckets) {
        EXPECT_EQ(bucket.offset, element);
        EXPECT_EQ(bucket.first_tensor, tensor);
        EXPECT_GE(bucket.ready_after, ready);
        element += bucket.count;
        tensor = bucket.last_tensor;
        ready = bucket.ready_after;
      }
      EXPECT_EQ(element, layout.elements);
      EXPECT_EQ(tensor, layout.tensors.size());
      EXPECT_EQ(layout.buckets.size() == 1, bucket_bytes == std::size_t{1} << 30);
    }
  }
}

// A bucket may be in reduction while the nodes behind it run.
TEST(GradientLayout, NoNodeTouchesABucketThatIsReady) {
  const Graph graph = training_graph("resnet20", 2);
  const GradientLayout layout = layout_gradients(graph, 1, kTail);
  int checked = 0;
  for (const auto& bucket : layout.buckets) {
    for (std::size_t s = bucket.first_tensor; s < bucket.last_tensor; ++s) {
      const ValueId value = graph.outputs[layout.tensors[s].output].value;
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

// Walks the tasks of a step as an executor would. Checks that nothing is read before it is written,
// and that nothing is written twice.
class Walk {
 public:
  Walk(const StepTasks& step, const GradientLayout& layout, std::size_t nodes,
       const std::vector<int>& micro_batches, std::vector<std::size_t> exchanges = {})
      : exchanges_(std::move(exchanges)),
        step_(step),
        layout_(layout),
        nodes_(nodes),
        last_of_lane_(micro_batches.size()),
        reduced_(layout.buckets.size(), kNone),
        contributions_(layout.buckets.size()) {
    int first = 0;
    for (const int count : micro_batches) {
      lanes_.push_back({.first = first, .added = std::vector<double>(layout.buckets.size(), 0)});
      first += count;
    }
  }

  void go(const std::vector<int>& micro_batches) {
    for (std::size_t t = 0; t < step_.tasks.size(); ++t) visit(t);
    EXPECT_NEAR(read_, 1, 1e-9);
    for (const double part : updated_) EXPECT_NEAR(part, 1, 1e-9);
    EXPECT_EQ(exchanged_.size(), exchanges_.size());
    for (std::size_t l = 0; l < lanes_.size(); ++l) {
      EXPECT_EQ(lanes_[l].bound, micro_batches[l] - 1);
      EXPECT_EQ(lanes_[l].node, nodes_);
    }
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Lane {
    int first = 0;  // index of its first micro-batch among the rank's
    int bound = -1;
    std::size_t node = 0;
    std::vector<double> added{};  // micro-batches in each bucket
    std::set<int> awaited{};      // buckets of this micro-batch
  };

  bool follows(std::size_t t, std::size_t before) const {
    std::vector<std::size_t> open{t};
    std::set<std::size_t> seen;
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      if (at == before) return true;
      for (const int after : step_.tasks[at].after) {
        if (seen.insert(static_cast<std::size_t>(after)).second) {
          open.push_back(static_cast<std::size_t>(after));
        }
      }
    }
    return false;
  }

  void expect_follows(std::size_t t, const std::vector<std::size_t>& all) const {
    for (const std::size_t before : all) EXPECT_TRUE(follows(t, before)) << t << " " << before;
  }

  void visit(std::size_t t) {
    const Task& task = step_.tasks[t];
    for (const int after : task.after) EXPECT_LT(after, static_cast<int>(t));
    EXPECT_TRUE(0 <= task.part.index && task.part.index < task.part.of);
    if (task.lane == kAnyLane) {
      visit_shared(t, task);
      return;
    }
    const auto l = static_cast<std::size_t>(task.lane);
    auto& last = last_of_lane_[l];  // the lane's last task, or the parts of one
    if (!last.empty()) {
      const Task& before = step_.tasks[last.front()];
      const bool same = before.kind == task.kind && before.bucket == task.bucket &&
                        before.micro_batch == task.micro_batch && task.part.index > 0;
      if (!same) {
        expect_follows(t, last);
        last.clear();
      }
    }
    last.push_back(t);
    visit_lane(t, task, lanes_[l]);
  }

  void visit_lane(std::size_t t, const Task& task, Lane& lane) {
    const auto b = static_cast<std::size_t>(std::max(0, task.bucket));
    switch (task.kind) {
      case Task::Kind::kLoadParameters:
        EXPECT_EQ(task.part, (Part{task.lane, step_.lanes}));
        EXPECT_EQ(lane.bound, -1);
        loaded_.push_back(t);
        break;
      case Task::Kind::kBind:
        EXPECT_EQ(loaded_.size(), lanes_.size());
        expect_follows(t, loaded_);
        EXPECT_EQ(task.micro_batch, lane.first + lane.bound + 1);
        EXPECT_TRUE(lane.bound < 0 || lane.node == nodes_);
        for (const double count : lane.added) EXPECT_NEAR(count, lane.bound + 1, 1e-9);
        ++lane.bound;
        lane.node = 0;
        lane.awaited.clear();
        break;
      case Task::Kind::kCompute:
        EXPECT_EQ(task.first_node, lane.node);
        lane.node = task.last_node;
        for (std::size_t e = 0; e < exchanges_.size(); ++e) {
          if (task.last_node <= exchanges_[e]) continue;
          EXPECT_GE(task.first_node, exchanges_[e]);
          ASSERT_GT(exchanged_.size(), e);
          EXPECT_TRUE(follows(t, exchanged_[e]));
        }
        break;
      case Task::Kind::kAwait:
        EXPECT_GE(lane.node, layout_.buckets[b].ready_after);
        EXPECT_TRUE(lane.awaited.insert(task.bucket).second);
        break;
      case Task::Kind::kAdd:
        EXPECT_TRUE(lane.awaited.contains(task.bucket));
        lane.added[b] += 1.0 / task.part.of;
        contributions_[b].push_back(t);
        break;
      default:
        ADD_FAILURE() << "of no lane: " << kind_name(task.kind);
    }
    EXPECT_TRUE(task.kind == Task::Kind::kAdd || !task.anywhere);
  }

  void visit_shared(std::size_t t, const Task& task) {
    EXPECT_TRUE(task.anywhere);
    const auto b = static_cast<std::size_t>(std::max(0, task.bucket));
    if (task.kind == Task::Kind::kReduce || task.kind == Task::Kind::kExchange) {
      EXPECT_TRUE(collective_ == kNone || follows(t, collective_)) << "the same order everywhere";
      collective_ = t;
    }
    switch (task.kind) {
      case Task::Kind::kExchange:
        ASSERT_LT(exchanged_.size(), exchanges_.size());
        EXPECT_EQ(task.exchange, static_cast<int>(exchanged_.size()));
        for (const Lane& lane : lanes_) EXPECT_EQ(lane.node, exchanges_[exchanged_.size()]);
        for (const auto& last : last_of_lane_) expect_follows(t, last);
        exchanged_.push_back(t);
        break;
      case Task::Kind::kAddLanes:
        EXPECT_GT(lanes_.size(), 1U);
        expect_follows(t, contributions_[b]);
        summed_[task.bucket].push_back(t);
        EXPECT_LE(summed_[task.bucket].size(), static_cast<std::size_t>(task.part.of));
        break;
      case Task::Kind::kReduce:
        EXPECT_TRUE(b == 0 || follows(t, reduced_[b - 1]));
        expect_follows(t, contributions_[b]);
        EXPECT_EQ(summed_.contains(task.bucket), lanes_.size() > 1);
        expect_follows(t, summed_[task.bucket]);
        reduced_[b] = t;
        break;
      case Task::Kind::kFinish:
        expect_follows(t, reduced_);
        for (const auto& last : last_of_lane_) expect_follows(t, last);
        finish_ = t;
        break;
      case Task::Kind::kRead:
        expect_follows(t, {finish_});
        read_ += 1.0 / task.part.of;
        reads_.push_back(t);
        break;
      case Task::Kind::kBeginUpdate:
        expect_follows(t, reads_);
        begin_ = t;
        break;
      case Task::Kind::kUpdate:
        expect_follows(t, {begin_});
        updated_.resize(layout_.buckets.size());
        updated_[b] += 1.0 / task.part.of;
        break;
      default:
        ADD_FAILURE() << "of a lane: " << kind_name(task.kind);
    }
  }

  const std::vector<std::size_t> exchanges_;
  std::vector<std::size_t> exchanged_;
  std::size_t collective_ = kNone;
  const StepTasks& step_;
  const GradientLayout& layout_;
  const std::size_t nodes_;
  std::vector<Lane> lanes_;
  std::vector<std::vector<std::size_t>> last_of_lane_;
  std::vector<std::size_t> loaded_;
  std::vector<std::size_t> reduced_;
  std::vector<std::vector<std::size_t>> contributions_;  // contributions to each bucket
  std::map<int, std::vector<std::size_t>> summed_;
  std::vector<std::size_t> reads_;
  std::size_t finish_ = kNone;
  std::size_t begin_ = kNone;
  double read_ = 0;
  std::vector<double> updated_;
};

TEST(StepTasks, AreSoundForAnyBucketsMicroBatchesAndThreads) {
  const Graph graph = training_graph("resnet20", 2);
  for (const std::size_t bucket_bytes :
       {std::size_t{1}, std::size_t{100'000}, std::size_t{1} << 30}) {
    const GradientLayout layout = layout_gradients(graph, bucket_bytes, kTail);
    for (const std::vector<int>& micro_batches :
         {std::vector{1}, {2}, {5}, {1, 1}, {3, 2}, {2, 2, 1}}) {
      for (const bool asynchronous : {false, true}) {
        for (const int threads : {1, 3, 8}) {
          const StepTasks step =
              plan_step(layout, graph.nodes.size(), {micro_batches, threads, asynchronous});
          EXPECT_EQ(step.threads, std::max(threads, static_cast<int>(micro_batches.size())));
          Walk(step, layout, graph.nodes.size(), micro_batches).go(micro_batches);
        }
      }
    }
  }
}

TEST(StepTasks, AreSoundWhereMicroBatchesShareNumbers) {
  const Graph graph = synchronize_batch_norms(training_graph("resnet20", 2), 3);
  std::vector<std::size_t> exchanges;
  for (const Exchange& exchange : exchanges_of(graph)) exchanges.push_back(exchange.ready_after);
  ASSERT_EQ(exchanges.size(), 42U);  // forward and backward of 21 batch norms
  for (const std::size_t bucket_bytes :
       {std::size_t{1}, std::size_t{100'000}, std::size_t{1} << 30}) {
    const GradientLayout layout = layout_gradients(graph, bucket_bytes, kTail);
    for (const std::vector<int>& lanes : {std::vector{1}, {1, 1, 1}}) {
      for (const bool asynchronous : {false, true}) {
        for (const int threads : {1, 8}) {
          const StepTasks step =
              plan_step(layout, graph.nodes.size(), {lanes, threads, asynchronous, exchanges});
          Walk(step, layout, graph.nodes.size(), lanes, exchanges).go(lanes);
        }
      }
    }
    EXPECT_THROW(plan_step(layout, graph.nodes.size(), {{1, 2}, 1, false, exchanges}), Error);
  }
}

TEST(StepTasks, WorkOnSumsIsCutForThreadsBeyondTheLanes) {
  const Graph graph = training_graph("resnet20", 2);
  const GradientLayout layout = layout_gradients(graph, std::size_t{1} << 30, kTail);
  const auto parts = [&](Task::Kind kind, const StepShape& shape) {
    int most = 0;
    for (const Task& task : plan_step(layout, graph.nodes.size(), shape).tasks) {
      if (task.kind == kind) most = std::max(most, task.part.of);
    }
    return most;
  };
  for (const auto kind : {Task::Kind::kAdd, Task::Kind::kRead, Task::Kind::kUpdate}) {
    EXPECT_EQ(parts(kind, {{2}, 1, false}), 1);
    EXPECT_EQ(parts(kind, {{2}, 4, false}), 4);
  }
  EXPECT_EQ(parts(Task::Kind::kAdd, {{1, 1}, 2, false}), 1);  // both threads have a lane
  EXPECT_EQ(parts(Task::Kind::kAddLanes, {{1, 1}, 2, false}), 2);
}

TEST(StepTasks, ReducesWhileBackwardGoesOn) {
  const Graph graph = training_graph("resnet20", 2);
  const GradientLayout layout = layout_gradients(graph, 65'536, kTail);
  const StepTasks plan = plan_step(layout, graph.nodes.size(), {.micro_batches = {1}});
  // The backward tasks that need not wait for the first reduction can run during it.
  std::size_t beside = 0;
  const auto first = std::ranges::find(plan.tasks, Task::Kind::kReduce, &Task::kind);
  const int added = first->after.front();
  for (std::size_t t = static_cast<std::size_t>(added); t < plan.tasks.size(); ++t) {
    beside += plan.tasks[t].kind == Task::Kind::kCompute;
  }
  EXPECT_GT(beside, 3U);
}

// A card must never wait for the host between two buckets.
TEST(StepTasks, GivesAsynchronousProgramsAllOfAMicroBatchAtOnce) {
  const Graph graph = training_graph("resnet20", 2);
  const GradientLayout layout = layout_gradients(graph, 65'536, kTail);
  const StepTasks plan =
      plan_step(layout, graph.nodes.size(), {.micro_batches = {2}, .asynchronous = true});
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
  for (std::ptrdiff_t b = 0; b < buckets; ++b) {
    expected.insert(expected.end(), {Task::Kind::kAwait, Task::Kind::kAdd});
  }
  EXPECT_EQ(kinds, expected);
  EXPECT_GT(std::ranges::count(kinds, Task::Kind::kCompute), 3);
}

// A few steps, cut into lanes, micro-batches and buckets in different ways.
Model some_steps(const char* net, std::size_t samples, const RunPlan& plan, int steps,
                 StepResult* result, const MakeBackend& make = reference) {
  const Graph graph =
      training_graph(net, static_cast<std::int64_t>(samples) / micro_batches_of(plan));
  Learner learner(graph, plan, make);
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
  for (const RunPlan& plan :
       {cut_into({2}, 1), cut_into({3}, 1), cut_into({6}, 1), cut_into({2, 1}, 1),
        cut_into({2, 2, 2}, 4096), cut_into({3, 3}, 4096, true)}) {
    StepResult cut{};
    const Model got = some_steps("lenet", 6, plan, 1, &cut);
    EXPECT_NEAR(cut.score.loss, whole.score.loss, 1e-5);
    EXPECT_EQ(cut.score.correct, whole.score.correct);
    for (std::size_t t = 0; t < expected.tensors.size(); ++t) {
      for (std::size_t i = 0; i < expected.tensors[t].data.size(); ++i) {
        EXPECT_NEAR(got.tensors[t].data[i], expected.tensors[t].data[i], 1e-6);
      }
    }
  }
}

// Two lanes on one core alternate in any order; the sums must not depend on it.
TEST(StepExecutor, RepeatsToTheBitAndReproduciblyAcrossLanesAndBuckets) {
  StepResult result{};
  const auto run = [&](const std::vector<int>& lanes, std::size_t bucket, bool reproducible,
                       int threads = 1) {
    return data_of(
        some_steps("resnet20", 6, cut_into(lanes, bucket, reproducible, threads), 3, &result));
  };
  EXPECT_EQ(run({2, 1}, 4096, false), run({2, 1}, 4096, false));
  EXPECT_EQ(run({2, 1}, 1 << 20, false, 5), run({2, 1}, 1 << 20, false));
  EXPECT_EQ(run({3}, 1 << 20, false, 4), run({3}, 1 << 20, false));
  const auto expected = run({3}, 1 << 20, true);
  EXPECT_EQ(run({3}, 1 << 20, true, 4), expected);
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
  EXPECT_EQ(learner.step(batch).repeats, 1);  // there is no estimate yet
  EXPECT_EQ(learner.step(batch).repeats, 0);
  const auto before = executor.state();
  // A hundredth of the weight makes each gradient a hundred times as large.
  EXPECT_EQ(executor.run(batch, weight_of(batch) / 100, 1e-6, 2, false).repeats, 1);
  EXPECT_GT(executor.state().at("fc2.bias"), before.at("fc2.bias") + 5);

  // From this state alone, the next step has the same bits.
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
    model.find(name).lr_scale = rate;
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

// The norm is that of all gradients of the global batch together. Statistics are no gradients.
TEST(StepExecutor, ClipsTheGradientsOfAStep) {
  const Graph graph = training_graph("resnet20", 2);
  const auto learn = [&](const GradientClip& clip, std::size_t bucket_bytes, bool reproducible) {
    Learner learner(graph, make_model(graph, 7), cut_into({2, 1}, bucket_bytes, reproducible),
                    reference, clip);
    pipeline::Batch batch = random_batch(graph, 6);
    learner.step(batch, 1.0);
    return std::move(learner.model);
  };
  const Model start = make_model(graph, 7);
  const Model plain = learn({}, 1000, false);
  double sum = 0;
  for (std::size_t t = 0; t < start.tensors.size(); ++t) {
    if (start.tensors[t].about.kind != ValueKind::kParameter) continue;
    for (std::size_t i = 0; i < start.tensors[t].data.size(); ++i) {
      sum += std::pow(plain.tensors[t].data[i] - start.tensors[t].data[i], 2);
    }
  }
  const double norm = std::sqrt(sum);
  const Model clipped = learn({.norm = norm / 4}, 1000, false);
  for (std::size_t t = 0; t < start.tensors.size(); ++t) {
    SCOPED_TRACE(start.tensors[t].about.name);
    const double share = start.tensors[t].about.kind == ValueKind::kParameter ? 0.25 : 1;
    for (std::size_t i = 0; i < start.tensors[t].data.size(); ++i) {
      const double moved = plain.tensors[t].data[i] - start.tensors[t].data[i];
      const double want = start.tensors[t].data[i] + share * moved;
      ASSERT_NEAR(clipped.tensors[t].data[i], want, 1e-5 * (1 + std::abs(want)));
    }
  }
  const Model sound = learn({.norm = norm / 4}, 1000, true);
  const Model other_buckets = learn({.norm = norm / 4}, 1, true);
  for (std::size_t t = 0; t < start.tensors.size(); ++t) {
    EXPECT_EQ(sound.tensors[t].data, other_buckets.tensors[t].data);
  }
}

TEST(StepExecutor, RunningStatisticsMoveATenthTowardsTheMeanOverMicroBatches) {
  const std::size_t samples = 4;
  const Graph graph = training_graph("resnet20", 2);
  Learner learner(graph, cut_into({2}, 1 << 20));
  pipeline::Batch batch = random_batch(graph, samples);
  learner.step(batch);

  // The first convolution's output, from a second program that stops at its statistics.
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

// The weights enter the loss divided by their sum, which overflows even though each is finite.
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
        const RunPlan plan = cut_into({micro_batches}, bucket_bytes, reproducible);
        StepResult want{};
        StepResult got{};
        const auto expected = data_of(some_steps("resnet20", 6, plan, 2, &want));
        EXPECT_EQ(data_of(some_steps("resnet20", 6, plan, 2, &got, deferred)), expected);
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

// With a sigmoid loss per class, a sample may have several labels, or none. Without a label, no
// prediction is right.
TEST(Feed, OfSigmoidsSamplesMayHaveAnyNumberOfLabels) {
  NetOptions options = small_images(3);
  options.loss.name = "bce";
  const Graph graph = prune(differentiate(fuse(find_net("lenet").make(options))));
  const auto program = make_backend("reference")->compile(graph, {});
  Feed feed(*program);
  pipeline::Batch batch = random_batch(graph, 3);
  batch.labels = {0, 2, 1};
  batch.label_weights = {1, 1, 1};
  batch.label_offsets = {0, 2, 2, 3};
  feed.bind(batch, 0, 3);
  const std::vector<float> want{1, 0, 1, 0, 0, 0, 0, 1, 0};
  EXPECT_EQ(std::vector(feed.targets().begin(), feed.targets().end()), want);
  const std::vector<float> logits{1, 0, 0, 1, 0, 0, 0, 1, 0};
  EXPECT_EQ(score(batch, 0, logits, std::vector<float>(3), {}).correct, 2);
  // Both parts of a mixed sample may have no label.
  batch.mix = {0.25, std::nullopt};
  batch.partners = {1, 2, 1};
  batch.label_offsets = {0, 2, 3, 3};
  batch.label_weights = {0.25F, 0.25F, 0.75F};
  batch.others = {2, 2, 3};
  feed.bind(batch, 0, 3);
  const std::vector<float> mixed{0.25F, 0, 0.25F, 0, 0.75F, 0, 0, 0, 0};
  EXPECT_EQ(std::vector(feed.targets().begin(), feed.targets().end()), mixed);
  EXPECT_EQ(score(batch, 0, logits, std::vector<float>(3), {}).correct, 1);
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
  batch.others = {1, 3};
  feed.bind(batch, 0, 2);
  const std::vector<float> want{0.75F, 0, 0.25F, 0, 1, 0};
  EXPECT_EQ(std::vector(feed.targets().begin(), feed.targets().end()), want);
  // A prediction is right if it is the label of the larger share.
  const std::vector<float> logits{1, 0, 0, 0, 1, 0};
  std::vector<std::int32_t> predictions(2);
  EXPECT_EQ(score(batch, 0, logits, std::vector<float>(2), predictions).correct, 2);
  EXPECT_EQ(
      score(batch, 0, std::vector<float>{0, 0, 1, 0, 0, 1}, std::vector<float>(2), {}).correct, 0);
  // This holds whatever the labels weigh in the loss.
  batch.label_weights = {0.9F, 0.1F, 0.25F, 0.75F};
  EXPECT_EQ(score(batch, 0, logits, std::vector<float>(2), predictions).correct, 2);
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

}  // namespace winnow::train::step_test

// Batch norm over all micro-batches of a step: the graph in steps, the exchange between
// micro-batches, and training in lanes compared with training on the whole batch.

#include "tests/train/sync_batch_norm.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "deferred_backend.h"
#include "train/backend/reference/interpret.h"
#include "train/ops/batch_norm.h"

namespace winnow::train::sync_batch_norm_test {

constexpr int kSteps = 10;
constexpr std::size_t kSamples = 6;

// Results by kind and parameter, without shared values.
std::map<std::pair<OutputKind, std::string>, Numbers> results(const Graph& graph) {
  std::map<ValueId, Numbers> inputs;
  for (auto& [id, numbers] : random_inputs(graph, 5)) inputs[id] = numbers;
  const auto values = interpret(graph, inputs);
  std::map<std::pair<OutputKind, std::string>, Numbers> found;
  for (const Output& output : graph.outputs) {
    if (is_shared(output)) continue;
    const std::string of = output.of < 0 ? "" : graph.value(output.of).name;
    found[{output.kind, of}] = values[static_cast<std::size_t>(output.value)];
  }
  return found;
}

TEST(SyncBatchNorm, InStepsIsTheSameForOneMicroBatch) {
  for (const char* net : {"resnet20", "mobilenet_v3_small"}) {
    const Graph graph = training_graph(net, 2);
    const Graph steps = synchronize_batch_norms(graph, 1);
    EXPECT_EQ(std::ranges::count(steps.nodes, &kBatchNorm, &Node::op), 0);
    EXPECT_EQ(std::ranges::count(steps.nodes, &kBatchNormBackward, &Node::op), 0);
    const auto want = results(graph);
    const auto got = results(steps);
    ASSERT_EQ(got.size(), want.size());
    for (const auto& [key, numbers] : want) {
      EXPECT_LE(relative_l2(got.at(key), numbers), 1e-9) << net << " " << key.second;
    }
  }
}

TEST(SyncBatchNorm, ElementsBehindARunningVarianceAreThoseOfTheBatch) {
  const Graph graph = training_graph("resnet20", 2);
  const Graph steps = synchronize_batch_norms(graph, 7);
  std::size_t found = 0;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    if (graph.outputs[i].kind != OutputKind::kVariance) continue;
    EXPECT_EQ(steps.outputs[i].count, 7 * graph.outputs[i].count);
    ++found;
  }
  EXPECT_GT(found, 10U);
}

// The first trained layer is a norm: nothing needs the gradient of its input.
TEST(SyncBatchNorm, NothingIsSharedForAGradientThatNobodyReads) {
  const Graph forward = fuse(find_net("resnet20").make(small_images(2)));
  const Graph graph =
      synchronize_batch_norms(prune(differentiate(freeze(forward, {"conv1.weight"}))), 2);
  EXPECT_EQ(std::ranges::count(graph.nodes, &kBatchNormSums, &Node::op), 21);
  EXPECT_EQ(std::ranges::count(graph.nodes, &kBatchNormInputGradient, &Node::op), 20);
  EXPECT_EQ(exchanges_of(graph).size(), 41U);
}

// With means far from zero, a variance computed as a difference of squares would lose all digits.
TEST(SyncBatchNorm, VariancesAreThoseOfAllSamples) {
  const Graph graph = synchronized_graph("resnet20", 2, 3);
  const Exchange exchange = exchanges_of(graph).front();
  ASSERT_EQ(exchange.parts.size(), 2U);
  constexpr std::size_t kMicroBatches = 3;
  constexpr std::size_t kEach = 50;
  CounterRng rng(1, 0, 0, RandomUse::kTest);
  std::vector<float> each(kMicroBatches * exchange.elements);
  std::vector<float> all(exchange.elements);
  std::vector<double> mean(exchange.parts[0].count);
  std::vector<double> variance(mean.size());
  for (std::size_t c = 0; c < mean.size(); ++c) {
    std::vector<double> samples(kMicroBatches * kEach);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      samples[i] = 1000 + static_cast<double>(i / kEach) + rng.below(1000) / 500.0;
    }
    const auto moments = [](std::span<const double> of) {
      const auto count = static_cast<double>(of.size());
      const double middle = std::accumulate(of.begin(), of.end(), 0.0) / count;
      double squares = 0;
      for (const double x : of) squares += (x - middle) * (x - middle);
      return std::pair(middle, squares / count);
    };
    std::tie(mean[c], variance[c]) = moments(samples);
    for (std::size_t m = 0; m < kMicroBatches; ++m) {
      const auto [middle, spread] = moments(std::span(samples).subspan(m * kEach, kEach));
      each[m * exchange.elements + c] = static_cast<float>(middle);
      each[m * exchange.elements + exchange.parts[1].offset + c] = static_cast<float>(spread);
    }
  }
  combine(exchange, each, all);
  for (std::size_t c = 0; c < mean.size(); ++c) {
    EXPECT_NEAR(all[c], mean[c], 1e-4);
    EXPECT_NEAR(all[exchange.parts[1].offset + c], variance[c], 2e-4);
  }
}

Learnt whole_batch(const MakeBackend& make, double lr) {
  const Graph graph = training_graph("resnet20", kSamples);
  Learner learner(graph, cut_into({1}, 4096), make);
  return learn(learner, random_batch(graph, kSamples), kSteps, lr);
}

Learnt in_lanes(int lanes, bool synchronized, const MakeBackend& make, double lr,
                bool reproducible = false) {
  const std::int64_t micro_batch = static_cast<std::int64_t>(kSamples) / lanes;
  const Graph graph = synchronized ? synchronized_graph("resnet20", micro_batch, lanes)
                                   : training_graph("resnet20", micro_batch);
  Learner learner(
      graph, cut_into(std::vector<int>(static_cast<std::size_t>(lanes), 1), 4096, reproducible),
      make);
  return learn(learner, random_batch(graph, kSamples), kSteps, lr);
}

// In float64, except for what leaves a program: gradients and statistics.
TEST(SyncBatchNorm, LanesTogetherLearnWhatTheWholeBatchDoes) {
  constexpr double kRate = 0.01;
  const Learnt whole = whole_batch(reference, kRate);
  for (const int lanes : {1, 2, 3, 6}) {
    const Learnt parts = in_lanes(lanes, true, reference, kRate);
    EXPECT_LE(distance(parts.model, whole.model), 1e-4) << lanes;
    for (int step = 0; step < kSteps; ++step) {
      const auto s = static_cast<std::size_t>(step);
      EXPECT_NEAR(parts.losses[s], whole.losses[s], 1e-5 * whole.losses[s]) << lanes;
    }
    if (lanes == 1) continue;
    EXPECT_GT(distance(in_lanes(lanes, false, reference, kRate).model, whole.model), 1e-2);
  }
}

// A last bit can open or close a ReLU, which moves gradients of biases by some thousandths.
TEST(SyncBatchNorm, LanesOfOneDnnTogetherLearnWhatTheWholeBatchDoes) {
  const MakeBackend make = [] { return make_backend("onednn"); };
  constexpr double kRate = 1e-4;
  const Learnt whole = whole_batch(make, kRate);
  const Learnt exact = whole_batch(reference, kRate);
  EXPECT_LE(distance(whole.model, exact.model), 2e-2);
  EXPECT_GT(distance(in_lanes(3, false, make, kRate).model, exact.model), 0.2);
  for (const int lanes : {1, 2, 3, 6}) {
    const Learnt parts = in_lanes(lanes, true, make, kRate);
    EXPECT_LE(distance(parts.model, exact.model), 2 * distance(whole.model, exact.model)) << lanes;
    EXPECT_NEAR(parts.losses.back(), whole.losses.back(), 1e-4) << lanes;
  }
}

std::vector<std::vector<float>> bits_of(const Learnt& learnt) {
  std::vector<std::vector<float>> all;
  for (const Model::Tensor& t : learnt.model.tensors) all.push_back(t.data);
  return all;
}

TEST(SyncBatchNorm, RepeatsToTheBit) {
  const MakeBackend make = [] { return make_backend("onednn"); };
  for (const bool reproducible : {false, true}) {
    EXPECT_EQ(bits_of(in_lanes(3, true, make, 0.1, reproducible)),
              bits_of(in_lanes(3, true, make, 0.1, reproducible)));
  }
}

TEST(SyncBatchNorm, ProgramsGoOnWithWhatTheyAreGiven) {
  expect_reads_shared_outputs(*make_backend("onednn"));
}

// Programs that run asynchronously are waited for.
TEST(SyncBatchNorm, ACardLearnsTheSame) {
  const MakeBackend deferred = [] {
    return make_deferred_backend(std::make_shared<DeferredState>());
  };
  EXPECT_EQ(bits_of(in_lanes(1, true, deferred, 0.1)), bits_of(in_lanes(1, true, reference, 0.1)));
}

TEST(SyncBatchNorm, ALaneCannotTakeTwoMicroBatches) {
  const Graph graph = synchronized_graph("resnet20", 2, 3);
  EXPECT_THROW(Learner(graph, cut_into({2, 1}, 4096)), Error);
}

}  // namespace winnow::train::sync_batch_norm_test

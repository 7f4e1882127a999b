#include "train/backend/cudnn/card_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/rng.h"
#include "tests/train/cases.h"
#include "tests/train/conformance.h"
#include "tests/train/cudnn/host_device.h"
#include "train/backend/cudnn/cudnn.h"
#include "train/backend/host_weights.h"
#include "train/backend/onednn/onednn.h"

namespace winnow::train::cudnn::card_weights_test {

using testing::HasSubstr;
using testing::ThrowsMessage;

// A few tensors of every kind with their state, and the same gradient sums for every backend.
struct Net {
  explicit Net(std::uint64_t seed, const Optimizer& optimizer = find_optimizer("sgd")) {
    CounterRng rng(seed, 0, 0, RandomUse::kTest);
    const auto add = [&](const char* name, std::size_t count, bool parameter, bool decay,
                         double lr_scale) {
      auto& value = values.emplace_back(count);
      for (float& v : value) v = static_cast<float>(rng.uniform() - 0.3);
      state.emplace_back(parameter ? optimizer.slots.size() : 0, std::vector<float>(count, 0.0F));
      slow.push_back(parameter ? values.back() : std::vector<float>());
      ema.push_back(values.back());
      updates.push_back(
          {.tensor = values.size() - 1, .offset = elements, .scale = 0.75, .momentum = 0.4});
      facts.push_back({name, parameter, decay, lr_scale});
      elements += count;
    };
    add("conv.weight", 1000, true, true, 1);
    add("conv.bias", 7, true, false, 1);
    add("slow.weight", 33, true, true, 0.125);
    add("frozen.weight", 12, true, true, 0);
    add("zero.weight", 5, true, true, 1);
    std::ranges::fill(values.back(), 0.0F);
    add("norm.running_mean", 16, false, false, 1);
    add("frozen.running_var", 16, false, false, 0);
  }

  std::vector<WeightTensor> tensors(bool averages = false) {
    std::vector<WeightTensor> all;
    for (std::size_t t = 0; t < values.size(); ++t) {
      all.push_back({.name = facts[t].name,
                     .value = values[t],
                     .state = {state[t].begin(), state[t].end()},
                     .parameter = facts[t].parameter,
                     .decay = facts[t].decay,
                     .lr_scale = facts[t].lr_scale,
                     .slow = averages ? std::span(slow[t]) : std::span<float>(),
                     .ema = averages ? std::span(ema[t]) : std::span<float>()});
    }
    return all;
  }

  std::vector<float> sums(std::uint64_t step) const {
    CounterRng rng(5, 0, step, RandomUse::kTest);
    std::vector<float> made(elements);
    for (float& v : made) v = static_cast<float>(2 * rng.uniform() - 1);
    return made;
  }

  struct Facts {
    std::string name;
    bool parameter;
    bool decay;
    double lr_scale;
  };
  std::vector<std::vector<float>> values;
  std::vector<std::vector<std::vector<float>>> state;  // by tensor and slot
  std::vector<std::vector<float>> slow;                // lookahead's slow weights
  std::vector<std::vector<float>> ema;
  std::vector<WeightUpdate> updates;
  std::vector<Facts> facts;
  std::size_t elements = 0;
};

Numbers numbers(const std::vector<float>& values) { return {values.begin(), values.end()}; }

void expect_close(const Net& got, const Net& want) {
  for (std::size_t t = 0; t < want.values.size(); ++t) {
    EXPECT_LE(relative_l2(numbers(got.values[t]), numbers(want.values[t])), 1e-6)
        << want.facts[t].name;
    for (std::size_t slot = 0; slot < want.state[t].size(); ++slot) {
      EXPECT_LE(relative_l2(numbers(got.state[t][slot]), numbers(want.state[t][slot])), 1e-6)
          << want.facts[t].name;
    }
  }
}

const UpdateRule kSgd{&find_optimizer("sgd")};

TEST(CardWeights, StepsAreThoseOfTheHost) {
  std::vector<UpdateRule> rules;
  for (const Optimizer& optimizer : optimizers()) rules.push_back({&optimizer, {}});
  rules.push_back(
      {&find_optimizer("sgd"), {{"momentum", {0.5}}, {"weight_decay", {0.1}}, {"nesterov", {0}}}});
  rules.push_back({&find_optimizer("lars"),
                   {{"momentum", {0.8}}, {"weight_decay", {0.1}}, {"lars_eta", {0.02}}}});
  for (const UpdateRule& rule : rules) {
    SCOPED_TRACE(rule.optimizer->name);
    Net here(3, *rule.optimizer);
    Net there(3, *rule.optimizer);
    const auto host = make_host_weights(here.tensors(), rule);
    const auto card = make_card_weights(std::make_shared<HostDevice>(), there.tensors(), rule);
    card->load();
    for (std::int64_t step = 0; step < 4; ++step) {
      const std::vector<float> sums = here.sums(static_cast<std::uint64_t>(step));
      const double lr = 0.1 / static_cast<double>(1 + step);
      ASSERT_TRUE(host->begin_update(sums, lr, step));
      ASSERT_TRUE(card->begin_update(sums, lr, step));
      // In two calls, as buckets arrive.
      const auto all = std::span<const WeightUpdate>(here.updates);
      host->update(all);
      card->update(all.first(3));
      card->update(all.subspan(3));
    }
    const Net before(3);
    EXPECT_EQ(there.values, before.values);  // the caller's memory changes at store()
    card->store();
    expect_close(there, here);
    EXPECT_NE(there.values[0], before.values[0]);
    EXPECT_EQ(there.values[3], before.values[3]);  // frozen
    EXPECT_EQ(there.values[6], before.values[6]);
  }
}

TEST(CardWeights, AveragesAreThoseOfTheHost) {
  const UpdateRule rule{&find_optimizer("sgd"),
                        {{"ema_decay", {0.5}},
                         {"lookahead_steps", {2}},
                         {"lookahead_alpha", {0.3}},
                         {"lookahead_power", {2}}},
                        5};
  Net here(3);
  Net there(3);
  const auto host = make_host_weights(here.tensors(true), rule);
  const auto card = make_card_weights(std::make_shared<HostDevice>(), there.tensors(true), rule);
  card->load();
  for (std::int64_t step = 0; step < 5; ++step) {
    const std::vector<float> sums = here.sums(static_cast<std::uint64_t>(step));
    for (WeightStore* store : {host.get(), card.get()}) {
      ASSERT_TRUE(store->begin_update(sums, 0.1, step));
      store->update(here.updates);
    }
  }
  card->store();
  const Net before(3);
  EXPECT_EQ(there.values, here.values);
  EXPECT_EQ(there.slow, here.slow);
  EXPECT_EQ(there.ema, here.ema);
  EXPECT_NE(there.ema[5], before.ema[5]);  // a running statistic
  EXPECT_NE(there.slow[0], before.slow[0]);
  EXPECT_NE(there.slow[0], there.values[0]);  // 5 is not a multiple of 2
  EXPECT_EQ(there.ema[3], before.ema[3]);     // frozen
}

TEST(CardWeights, SumsThatAreNotFiniteChangeNothing) {
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()}) {
    Net net(4);
    const auto card = make_card_weights(std::make_shared<HostDevice>(), net.tensors(), kSgd);
    card->load();
    std::vector<float> sums = net.sums(0);
    sums[sums.size() - 1] = bad;
    EXPECT_FALSE(card->begin_update(sums, 0.1, 0));
    card->update(net.updates);  // a kernel that was enqueued anyway
    card->store();
    const Net before(4);
    EXPECT_EQ(net.values, before.values);
    EXPECT_EQ(net.state, before.state);
    EXPECT_TRUE(card->begin_update(net.sums(1), 0.1, 1));  // the verdict holds for one step only
  }
}

TEST(CardWeights, LoadTakesWhatACheckpointBrought) {
  Net net(5);
  const auto card = make_card_weights(std::make_shared<HostDevice>(), net.tensors(), kSgd);
  card->load();
  const Net other(6);
  for (std::size_t t = 0; t < net.values.size(); ++t) {
    std::ranges::copy(other.values[t], net.values[t].begin());
    for (auto& slot : net.state[t]) std::ranges::fill(slot, 2.0F);
  }
  card->load();
  for (std::size_t t = 0; t < net.values.size(); ++t) {
    std::ranges::fill(net.values[t], -1.0F);
    for (auto& slot : net.state[t]) std::ranges::fill(slot, -1.0F);
  }
  card->store();
  EXPECT_EQ(net.values, other.values);
  for (const auto& slots : net.state) {
    for (const auto& slot : slots) EXPECT_EQ(slot, std::vector<float>(slot.size(), 2.0F));
  }
}

// A program reads the card's weights, not the caller's. load_parameters makes an update visible.
TEST(CardWeights, ProgramsReadThem) {
  const auto device = std::make_shared<HostDevice>();
  const auto backend = make_cudnn_backend(device);
  const Graph graph = training_graph("lenet", 2, 28, 1);
  const Inputs inputs = random_inputs(graph, 3);
  Running by_host(*backend, graph, inputs, {});
  by_host.run();

  std::vector<std::vector<float>> values;
  std::vector<std::vector<float>> momenta;
  std::vector<WeightTensor> tensors;
  std::vector<WeightUpdate> updates;
  std::size_t elements = 0;
  for (const ValueId id : graph.of_kind(ValueKind::kParameter)) {
    values.emplace_back(inputs.at(id).begin(), inputs.at(id).end());
    momenta.emplace_back(values.back().size(), 0.0F);
  }
  for (const ValueId id : graph.of_kind(ValueKind::kParameter)) {
    const std::size_t t = tensors.size();
    tensors.push_back({graph.value(id).name, values[t], {momenta[t]}, true, true, 1});
    updates.push_back({.tensor = t, .offset = elements});
    elements += values[t].size();
  }
  const auto weights = backend->make_weights(tensors, {kSgd.optimizer, {{"momentum", {0}}}});
  weights->load();
  Running by_card(*backend, graph, inputs, {});
  weights->bind(by_card.program());
  for (const ValueId id : graph.of_kind(ValueKind::kParameter)) {
    std::ranges::fill(by_card.floats(id), 1e9F);
  }
  by_card.program().load_parameters();
  by_card.run();
  EXPECT_EQ(by_card.outputs(), by_host.outputs());

  ASSERT_TRUE(weights->begin_update(std::vector<float>(elements, 0.01F), 1.0, 0));
  weights->update(updates);
  by_card.program().load_parameters();
  by_card.run();
  weights->store();
  std::size_t t = 0;
  for (const ValueId id : graph.of_kind(ValueKind::kParameter)) {
    std::ranges::copy(values[t++], by_host.floats(id).begin());
  }
  EXPECT_NE(by_card.outputs(), by_host.outputs());
  by_host.program().load_parameters();
  by_host.run();
  EXPECT_EQ(by_card.outputs(), by_host.outputs());
}

TEST(CardWeights, WithoutAnOptimizerAreForEvaluation) {
  Net net(5);
  const auto card = make_card_weights(std::make_shared<HostDevice>(), net.tensors(), {});
  card->load();
  EXPECT_THROW(card->begin_update(net.sums(0), 0.1, 0), Error);
}

TEST(CardWeights, ServeProgramsOfTheirNetOnly) {
  Net net(5);
  const auto card = make_card_weights(std::make_shared<HostDevice>(), net.tensors(), kSgd);
  const Graph graph = training_graph("lenet", 2, 28, 1);
  const auto elsewhere = make_onednn_backend()->compile(graph, {});
  EXPECT_THAT([&] { card->bind(*elsewhere); },
              ThrowsMessage<Error>(HasSubstr("on that card only")));
  const auto other_net = make_cudnn_backend(std::make_shared<HostDevice>())->compile(graph, {});
  EXPECT_THAT([&] { card->bind(*other_net); }, ThrowsMessage<Error>(HasSubstr("has no tensor")));
}

}  // namespace winnow::train::cudnn::card_weights_test

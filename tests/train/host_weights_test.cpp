// Weights in the caller's memory: the effect of a step.

#include "train/backend/host_weights.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <thread>

#include "common/error.h"
#include "common/rng.h"

namespace winnow::train::host_weights_test {

struct Tensors {
  explicit Tensors(const Optimizer& optimizer = find_optimizer("sgd"))
      : state(optimizer.slots.size(), {std::vector{0.5F, 0.0F, 0.25F}, std::vector{0.125F}}) {}

  std::vector<float> weight{1, -2, 3};
  std::vector<float> bias{0.5F};
  std::vector<float> mean{10, 20};
  std::vector<std::array<std::vector<float>, 2>> state;  // by slot: the weight's, the bias's

  std::vector<WeightTensor> all(double lr_scale = 1) {
    std::vector<WeightTensor> tensors{{"weight", weight, {}, true, true, lr_scale},
                                      {"bias", bias, {}, true, false, lr_scale},
                                      {"mean", mean, {}, false, false, lr_scale}};
    for (auto& [of_weight, of_bias] : state) {
      tensors[0].state.push_back(of_weight);
      tensors[1].state.push_back(of_bias);
    }
    return tensors;
  }
};

const UpdateRule kSgd{&find_optimizer("sgd")};
const std::vector<float> kSums{5, 6, 0.25F, 0.5F, -0.75F, 2, 7};  // mean, weight, bias, tail
const std::vector<WeightUpdate> kUpdates{{2, 0, 0.5}, {0, 2, 1}, {1, 5, 1}};

TEST(HostWeights, DoWhatTheOptimizerDoes) {
  const OptionValues options{{"momentum", {0.9}}, {"weight_decay", {0.01}}, {"lars_eta", {0.02}}};
  for (const Optimizer& optimizer : optimizers()) {
    SCOPED_TRACE(optimizer.name);
    Tensors got(optimizer);
    const auto weights = make_host_weights(got.all(0.5), {&optimizer, options});
    ASSERT_TRUE(weights->begin_update(kSums, 0.2, 6));
    weights->update(std::span(kUpdates).first(1));
    weights->update(std::span(kUpdates).subspan(1));

    Tensors want(optimizer);
    const auto sums = std::span(kSums);
    const UpdateFunction update = optimizer.make(ChosenOptions(optimizer.options, options));
    const std::vector<WeightTensor> tensors = want.all();
    update({want.weight, sums.subspan(2, 3), tensors[0].state, {.lr = 0.1, .step = 6}});
    update(
        {want.bias, sums.subspan(5, 1), tensors[1].state, {.lr = 0.1, .step = 6, .decay = false}});
    EXPECT_EQ(got.weight, want.weight);
    EXPECT_EQ(got.bias, want.bias);
    EXPECT_EQ(got.state, want.state);
    EXPECT_EQ(got.mean, (std::vector<float>{0.9F * 10 + 0.25F, 0.9F * 20 + 0.3F}));
  }
}

TEST(HostWeights, LeaveFrozenTensorsAndTheCallersMemoryAlone) {
  Tensors got;
  const auto weights = make_host_weights(got.all(0), kSgd);
  weights->load();
  ASSERT_TRUE(weights->begin_update(kSums, 0.2, 0));
  weights->update(kUpdates);
  weights->store();
  const Tensors before;
  EXPECT_EQ(got.weight, before.weight);
  EXPECT_EQ(got.state, before.state);
  EXPECT_EQ(got.bias, before.bias);
  EXPECT_EQ(got.mean, before.mean);
}

TEST(HostWeights, ANumberThatIsNotFiniteIsSeenAnywhere) {
  Tensors tensors;
  const auto weights = make_host_weights(tensors.all(), kSgd);
  for (std::size_t at = 0; at < kSums.size(); ++at) {
    for (const float value : {std::nanf(""), -std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
      std::vector<float> sums = kSums;
      sums[at] = value;
      EXPECT_FALSE(weights->begin_update(sums, 0.1, 0)) << at;
    }
  }
  const float largest = std::numeric_limits<float>::max();
  EXPECT_TRUE(
      weights->begin_update(std::vector<float>{largest, -largest, 0, -0.0F, 1e-45F}, 0.1, 1));
}

TEST(HostWeights, WithoutAnOptimizerAreForEvaluation) {
  Tensors tensors;
  const auto weights = make_host_weights(tensors.all(), {});
  EXPECT_THROW(weights->begin_update(kSums, 0.1, 0), Error);
}

std::vector<float> random_floats(std::size_t count, std::uint64_t seed) {
  CounterRng rng(seed, 0, 0, RandomUse::kTest);
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(rng.uniform() - 0.4);
  return values;
}

// Checks in parts and updates on several threads give the same bits as one thread.
TEST(HostWeights, PartsAndThreadsDoNotChangeBits) {
  constexpr std::size_t kTensors = 12;
  for (const Optimizer& optimizer : optimizers()) {
    const auto train = [&](std::size_t threads) {
      std::vector<std::vector<float>> numbers;  // value and state of each tensor
      std::vector<WeightTensor> tensors;
      std::vector<WeightUpdate> updates;
      numbers.reserve(kTensors * (1 + optimizer.slots.size()));
      std::size_t elements = 0;
      for (std::size_t t = 0; t < kTensors; ++t) {
        const std::size_t count = 1 + 997 * t;
        auto& value = numbers.emplace_back(random_floats(count, t));
        WeightTensor tensor{.name = std::to_string(t), .value = value, .decay = t % 2 == 0};
        for (std::size_t slot = 0; slot < optimizer.slots.size(); ++slot) {
          tensor.state.emplace_back(numbers.emplace_back(count, 0.0F));
        }
        tensors.push_back(tensor);
        updates.push_back({.tensor = t, .offset = elements});
        elements += count;
      }
      const auto weights = make_host_weights(tensors, {&optimizer, {}});
      for (std::int64_t step = 0; step < 3; ++step) {
        const auto sums = random_floats(elements, 100 + static_cast<std::uint64_t>(step));
        const auto all = std::span<const WeightUpdate>(updates);
        if (threads == 1) {
          EXPECT_TRUE(weights->begin_update(sums, 0.1, step));
          weights->update(all);
          continue;
        }
        std::vector<int> finite(threads);
        const auto on_all = [&](auto work) {
          std::vector<std::jthread> running;
          for (std::size_t i = 0; i < threads; ++i) running.emplace_back([=] { work(i); });
        };
        const std::size_t part = sums.size() / threads + 1;
        on_all([&](std::size_t i) {
          const std::size_t first = std::min(i * part, sums.size());
          finite[i] =
              all_finite(std::span(sums).subspan(first, std::min(part, sums.size() - first)));
        });
        EXPECT_EQ(finite, std::vector<int>(threads, 1));
        EXPECT_TRUE(weights->begin_update(sums, 0.1, step, true));
        on_all([&](std::size_t i) {
          for (std::size_t t = i; t < all.size(); t += threads) weights->update(all.subspan(t, 1));
        });
      }
      return numbers;
    };
    const auto want = train(1);
    EXPECT_EQ(train(3), want) << optimizer.name;
    EXPECT_EQ(train(4), want) << optimizer.name;
  }
}

}  // namespace winnow::train::host_weights_test

// Weights in the caller's memory: what a step does to them.

#include "train/optim/host_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "train/optim/optimizer.h"

namespace winnow::train {
namespace {

struct Tensors {
  std::vector<float> weight{1, -2, 3};
  std::vector<float> weight_momentum{0.5F, 0, -0.25F};
  std::vector<float> bias{0.5F};
  std::vector<float> bias_momentum{0};
  std::vector<float> mean{10, 20};

  std::vector<WeightTensor> all(double lr_scale = 1) {
    return {{"weight", weight, {weight_momentum}, true, true, lr_scale},
            {"bias", bias, {bias_momentum}, true, false, lr_scale},
            {"mean", mean, {}, false, false, lr_scale}};
  }
};

const std::vector<float> kSums{5, 6, 0.25F, 0.5F, -0.75F, 2, 7};  // mean, weight, bias, a tail
const std::vector<WeightUpdate> kUpdates{{2, 0, 0.5}, {0, 2, 1}, {1, 5, 1}};

TEST(HostWeights, DoWhatTheOptimizerDoes) {
  const OptimizerOptions options{.momentum = 0.9, .weight_decay = 0.01, .lars_trust = 0.02};
  for (const Optimizer& optimizer : optimizers()) {
    Tensors got;
    const auto weights = make_host_weights(got.all(0.5), {optimizer.kind, options});
    ASSERT_TRUE(weights->begin_update(kSums, 0.2, 0));
    weights->update(std::span(kUpdates).first(1));
    weights->update(std::span(kUpdates).subspan(1));

    Tensors want;
    const auto sums = std::span(kSums);
    optimizer.step({want.weight, sums.subspan(2, 3), want.weight_momentum, true}, 0.1, options);
    optimizer.step({want.bias, sums.subspan(5, 1), want.bias_momentum, false}, 0.1, options);
    EXPECT_EQ(got.weight, want.weight) << optimizer.name;
    EXPECT_EQ(got.weight_momentum, want.weight_momentum) << optimizer.name;
    EXPECT_EQ(got.bias, want.bias) << optimizer.name;
    EXPECT_EQ(got.bias_momentum, want.bias_momentum) << optimizer.name;
    EXPECT_EQ(got.mean, (std::vector<float>{0.9F * 10 + 0.25F, 0.9F * 20 + 0.3F}));
  }
}

TEST(HostWeights, LeaveFrozenTensorsAndTheCallersMemoryAlone) {
  Tensors got;
  const auto weights = make_host_weights(got.all(0), {});
  weights->load();
  ASSERT_TRUE(weights->begin_update(kSums, 0.2, 0));
  weights->update(kUpdates);
  weights->store();
  const Tensors before;
  EXPECT_EQ(got.weight, before.weight);
  EXPECT_EQ(got.weight_momentum, before.weight_momentum);
  EXPECT_EQ(got.bias, before.bias);
  EXPECT_EQ(got.mean, before.mean);
}

TEST(HostWeights, ANumberThatIsNotFiniteIsSeenAnywhere) {
  Tensors tensors;
  const auto weights = make_host_weights(tensors.all(), {});
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

}  // namespace
}  // namespace winnow::train

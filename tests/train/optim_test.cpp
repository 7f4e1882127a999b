#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "common/error.h"
#include "train/optim/learning_rate.h"
#include "train/optim/optimizer.h"

namespace winnow::train {
namespace {

struct Tensor {
  std::vector<float> value;
  std::vector<float> gradient;
  std::vector<float> momentum = std::vector<float>(value.size(), 0.0F);
  bool decay = true;

  ParameterUpdate update() { return {value, gradient, momentum, decay}; }
};

void expect_near(const std::vector<float>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 2e-6 * std::abs(want[i]));
}

constexpr OptimizerOptions kLars{.momentum = 0.9, .weight_decay = 1e-4, .lars_trust = 1e-3};

// Algorithm 1 of arXiv:1708.03888 worked out by hand for |w| = 5, |g| = 1.
TEST(Lars, FollowsTheTestVector) {
  Tensor t{{3, 4}, {0.6F, 0.8F}};
  lars_step(t.update(), 10, kLars);
  expect_near(t.momentum, {0.03, 0.04});
  expect_near(t.value, {2.97, 3.96});
  lars_step(t.update(), 10, kLars);
  expect_near(t.momentum, {0.0567, 0.0756});
  expect_near(t.value, {2.9133, 3.8844});
}

TEST(Lars, StepIgnoresTheScaleOfTheGradientWithoutDecay) {
  OptimizerOptions options = kLars;
  options.weight_decay = 0;
  Tensor a{{1, -2, 0.5F}, {0.1F, 0.2F, -0.3F}};
  Tensor b{{1, -2, 0.5F}, {100, 200, -300}};
  lars_step(a.update(), 2, options);
  lars_step(b.update(), 2, options);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(a.value[i], b.value[i], 1e-7);
}

TEST(Lars, LeavesBiasesAndNormsUnscaled) {
  Tensor t{{3, 4}, {0.6F, 0.8F}, {0, 0}, false};
  lars_step(t.update(), 0.1, kLars);
  expect_near(t.value, {3 - 0.06, 4 - 0.08});
}

TEST(Lars, ZeroWeightsOrGradientsTakeThePlainStep) {
  Tensor zero_weights{{0, 0}, {0.6F, 0.8F}};
  lars_step(zero_weights.update(), 0.1, kLars);
  expect_near(zero_weights.value, {-0.06, -0.08});
  Tensor zero_gradient{{3, 4}, {0, 0}};
  lars_step(zero_gradient.update(), 0.1, kLars);
  expect_near(zero_gradient.value, {3 * (1 - 1e-5), 4 * (1 - 1e-5)});
}

// PyTorch's SGD in double, written down from its documentation.
void pytorch_sgd(std::vector<double>& w, const std::vector<double>& g, std::vector<double>& v,
                 double lr, const OptimizerOptions& o) {
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double d = g[i] + o.weight_decay * w[i];
    v[i] = o.momentum * v[i] + d;
    w[i] -= lr * (o.nesterov ? d + o.momentum * v[i] : v[i]);
  }
}

TEST(Sgd, FollowsPyTorchWithAndWithoutNesterov) {
  for (const bool nesterov : {false, true}) {
    const OptimizerOptions options{.momentum = 0.9, .weight_decay = 5e-2, .nesterov = nesterov};
    Tensor t{{0.5F, -1.5F, 2}, {0.1F, 0.25F, -0.5F}};
    std::vector<double> w{0.5, -1.5, 2};
    std::vector<double> v(3, 0.0);
    for (int step = 0; step < 10; ++step) {
      const std::vector<double> g(t.gradient.begin(), t.gradient.end());
      sgd_step(t.update(), 0.1, options);
      pytorch_sgd(w, g, v, 0.1, options);
    }
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(t.value[i], w[i], 1e-5);
  }
}

TEST(Optimizers, UnknownNameListsTheKnown) {
  EXPECT_EQ(find_optimizer("lars").step, &lars_step);
  for (const Optimizer& row : optimizers()) {
    EXPECT_EQ(find_optimizer(row.kind).name, row.name);
  }
  try {
    find_optimizer("adam");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "unknown optimizer 'adam'; known: sgd, lars");
  }
}

TEST(LearningRate, WarmsUpThenDecays) {
  const LearningRate poly{
      .base = 8, .end = 1, .warmup_steps = 4, .total_steps = 14, .decay = Decay::kPoly2};
  EXPECT_DOUBLE_EQ(rate_at(poly, 0), 2);
  EXPECT_DOUBLE_EQ(rate_at(poly, 3), 8);
  EXPECT_DOUBLE_EQ(rate_at(poly, 4), 8);
  EXPECT_DOUBLE_EQ(rate_at(poly, 9), 1 + 7 * 0.25);
  EXPECT_DOUBLE_EQ(rate_at(poly, 14), 1);
  EXPECT_DOUBLE_EQ(rate_at(poly, 99), 1);
  LearningRate cosine = poly;
  cosine.decay = Decay::kCosine;
  EXPECT_DOUBLE_EQ(rate_at(cosine, 9), 4.5);
  for (std::int64_t step = 4; step < 13; ++step) {
    EXPECT_GT(rate_at(cosine, step), rate_at(cosine, step + 1));
    EXPECT_GT(rate_at(poly, step), rate_at(poly, step + 1));
  }
  LearningRate constant{.base = 0.5, .decay = Decay::kConstant};
  EXPECT_DOUBLE_EQ(rate_at(constant, 0), 0.5);
  EXPECT_THROW(parse_decay("step"), UsageError);
}

}  // namespace
}  // namespace winnow::train

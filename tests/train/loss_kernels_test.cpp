#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/train/kernel_runs.h"

// Kernels of sigmoid losses.
namespace winnow::train::loss_kernels_test {

using kernel_runs::expect_same_bits;
using kernel_runs::random_floats;

struct Problem {
  std::int64_t samples, classes;
  std::vector<float> logits, targets;
  kernels::FocalFactors focal;
};

// The loss, per_sample and dlogits, concatenated.
std::vector<float> sigmoid_loss(const kernels::Table& table, const Problem& p, int threads) {
  const std::vector<float> weights(static_cast<std::size_t>(p.samples), 0.5F);
  std::vector<float> out(1 + weights.size() + p.logits.size());
  float* per_sample = out.data() + 1;
  const kernels::SigmoidLoss a{.of = {.layer = {Element::kF32, p.samples, p.classes, 0},
                                      .logits = p.logits.data(),
                                      .targets = p.targets.data(),
                                      .weights = weights.data(),
                                      .loss = out.data(),
                                      .per_sample = per_sample,
                                      .dlogits = per_sample + p.samples},
                               .focal = p.focal,
                               .share = 1};
  table.sigmoid_loss(a, threads);
  table.sigmoid_loss_backward(a, threads);
  return out;
}

constexpr kernels::FocalFactors kPlain{0, -1};
constexpr kernels::FocalFactors kFocal{2, 0.25};

TEST(OneDnnSigmoidLoss, InstructionSetsAndThreadsGiveTheSameBits) {
  for (const kernels::FocalFactors& focal : {kPlain, kFocal}) {
    Problem p{37, 21, random_floats(37 * 21, 1), random_floats(37 * 21, 2), focal};
    for (float& logit : p.logits) logit *= 20;
    for (float& target : p.targets) target = target > 0 ? 1 : 0;
    expect_same_bits(
        [&](const kernels::Table& table, int threads) { return sigmoid_loss(table, p, threads); },
        "sigmoid loss");
  }
}

// Confident and right: no loss and no gradient. Confident and wrong: the loss is the logit.
TEST(OneDnnSigmoidLoss, IsExactForLogitsOfTenThousand) {
  for (const kernels::FocalFactors& focal : {kPlain, kernels::FocalFactors{0.5, -1}, kFocal}) {
    const Problem p{4, 1, {1e4F, -1e4F, -1e4F, 1e4F}, {1, 0, 1, 0}, focal};
    const float one = focal.alpha < 0 ? 1 : 0.25F;  // the weight of a class that is present
    const float other = focal.alpha < 0 ? 1 : 0.75F;
    const std::vector<float> want = {
        5e3F * (one + other), 0, 0, one * 1e4F, other * 1e4F, 0, 0, -0.5F * one, 0.5F * other};
    EXPECT_EQ(sigmoid_loss(kernels::best(), p, 1), want);
  }
}

TEST(OneDnnSigmoidLoss, NotANumberStaysOne) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const kernels::FocalFactors& focal : {kPlain, kFocal}) {
    const auto out = sigmoid_loss(kernels::best(), {1, 2, {nan, 0}, {0, 1}, focal}, 1);
    for (const std::size_t i : {0U, 1U, 2U}) EXPECT_TRUE(std::isnan(out[i])) << i;
    EXPECT_FALSE(std::isnan(out[3]));
  }
}

}  // namespace winnow::train::loss_kernels_test

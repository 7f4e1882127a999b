#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/train/kernel_runs.h"
#include "tests/train/run_operation.h"
#include "train/ops/activation.h"

namespace winnow::train::activation_kernels_test {

constexpr ActivationKind kKinds[] = {ActivationKind::kRelu6,       ActivationKind::kSigmoid,
                                     ActivationKind::kHardSigmoid, ActivationKind::kHardSwish,
                                     ActivationKind::kSilu,        ActivationKind::kGelu};
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Small steps where the curves bend, powers of two beyond, both signs.
std::vector<float> whole_range() {
  std::vector<float> numbers;
  for (int i = -20'000; i <= 20'000; ++i) numbers.push_back(static_cast<float>(i) / 1000);
  for (int power = -126; power < 128; ++power) {
    for (const float sign : {-1.0F, 1.0F}) numbers.push_back(sign * std::ldexp(1.375F, power));
  }
  return numbers;
}

std::vector<float> forward(const kernels::Table& table, ActivationKind kind,
                           const std::vector<float>& x, int threads = 1) {
  std::vector<float> y(x.size());
  table.activation(
      {kind, {Element::kF32, x.data(), x.data(), y.data(), static_cast<std::int64_t>(x.size())}},
      threads);
  return y;
}

std::vector<float> backward(const kernels::Table& table, ActivationKind kind,
                            const std::vector<float>& x, int threads = 1) {
  const std::vector<float> dy(x.size(), 1.0F);
  std::vector<float> dx(x.size());
  table.activation_backward(
      {kind, {Element::kF32, x.data(), dy.data(), dx.data(), static_cast<std::int64_t>(x.size())}},
      threads);
  return dx;
}

TEST(OneDnnActivation, IsTheReferencesOverTheWholeRange) {
  const std::vector<float> x = whole_range();
  const Given given{{1, static_cast<std::int64_t>(x.size())}, {x.begin(), x.end()}};
  const Given ones{given.shape, std::vector<double>(x.size(), 1.0)};
  for (const ActivationKind kind : kKinds) {
    const auto y = outputs_of(kActivation, {given}, ActivationAttributes{kind})[0];
    const auto slope =
        outputs_of(kActivationBackward, {given, ones}, ActivationAttributes{kind})[0];
    const auto got = forward(kernels::best(), kind, x);
    const auto got_slope = backward(kernels::best(), kind, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_NEAR(got[i], y[i], 2e-6 * std::max(1.0, std::abs(y[i]))) << name_of(kind) << x[i];
      ASSERT_NEAR(got_slope[i], slope[i], 4e-6) << name_of(kind) << " slope " << x[i];
    }
  }
}

TEST(OneDnnActivation, InstructionSetsAndThreadsGiveTheSameBits) {
  const std::vector<float> x = whole_range();
  for (const ActivationKind kind : kKinds) {
    kernel_runs::expect_same_bits(
        [&](const kernels::Table& table, int threads) { return forward(table, kind, x, threads); },
        std::string(name_of(kind)));
    kernel_runs::expect_same_bits(
        [&](const kernels::Table& table, int threads) { return backward(table, kind, x, threads); },
        std::string(name_of(kind)) + " slope");
  }
}

TEST(OneDnnActivation, NanStaysAndInfinitiesEndWhereTheCurveDoes) {
  for (const ActivationKind kind : kKinds) {
    const auto y =
        forward(kernels::best(), kind, {std::numeric_limits<float>::quiet_NaN(), kInfinity, 1e30F});
    EXPECT_TRUE(std::isnan(y[0])) << name_of(kind);
    const bool ends = kind == ActivationKind::kSigmoid || kind == ActivationKind::kHardSigmoid;
    EXPECT_EQ(y[1], kind == ActivationKind::kRelu6 ? 6 : (ends ? 1 : kInfinity)) << name_of(kind);
    EXPECT_EQ(y[2], kind == ActivationKind::kRelu6 ? 6 : (ends ? 1 : 1e30F)) << name_of(kind);
  }
}

}  // namespace winnow::train::activation_kernels_test

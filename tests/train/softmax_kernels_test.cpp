#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/train/kernel_runs.h"

// Kernels of attention and tokens: softmax, rows added to rows, rows padded with zeros.
namespace winnow::train::softmax_kernels_test {

using kernel_runs::expect_same_bits;
using kernel_runs::random_floats;

constexpr std::int64_t kRows = 67;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// y and dx, concatenated.
std::vector<float> softmax(const kernels::Table& table, const std::vector<float>& x,
                           std::int64_t columns, float factor, int threads) {
  const auto rows = static_cast<std::int64_t>(x.size()) / columns;
  const auto dy = random_floats(rows * columns, 2);
  std::vector<float> out(2 * x.size());
  table.softmax({Element::kF32, rows, columns, factor, x.data(), out.data()}, threads);
  table.softmax_backward(
      {Element::kF32, rows, columns, factor, out.data(), dy.data(), out.data() + x.size()},
      threads);
  return out;
}

TEST(OneDnnSoftmax, InstructionSetsAndThreadsGiveTheSameBits) {
  for (const std::int64_t columns : {1, 5, 16, 51, 197}) {
    const auto x = random_floats(kRows * columns, 1);
    expect_same_bits([&](const kernels::Table& table,
                         int threads) { return softmax(table, x, columns, 3, threads); },
                     "softmax");
  }
}

TEST(OneDnnSoftmax, IsItsFormula) {
  for (const std::int64_t columns : {1, 7, 16, 33, 300}) {
    const auto x = random_floats(columns, 1);
    const auto dy = random_floats(columns, 2);
    const auto got = softmax(kernels::best(), x, columns, 5, 1);
    double sum = 0;
    for (const float v : x) sum += std::exp(5 * static_cast<double>(v));
    double mean = 0;
    const auto share = [&](std::size_t i) { return std::exp(5 * static_cast<double>(x[i])) / sum; };
    for (std::size_t i = 0; i < x.size(); ++i) mean += share(i) * dy[i];
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(got[i], share(i), 1e-6 * share(i));
      EXPECT_NEAR(got[x.size() + i], 5 * share(i) * (dy[i] - mean), 1e-5 * share(i));
    }
  }
}

TEST(OneDnnSoftmax, KeepsLargeScoresFiniteAndShowsNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x(3 * 20, -3e38F);
  x[3] = 3e38F;
  x[25] = nan;
  x[47] = -kInfinity;
  const auto got = softmax(kernels::best(), x, 20, 1, 1);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(got[i], i == 3 ? 1 : 0);
    EXPECT_TRUE(std::isnan(got[20 + i]));
    EXPECT_NEAR(got[40 + i], i == 7 ? 0 : 1.0 / 19, 1e-6);
  }
}

TEST(OneDnnRows, AreAddedSummedAndPaddedAlikeEverywhere) {
  for (const std::int64_t channels : {3, 16, 20'003}) {
    const std::int64_t wide = channels + 5;
    const auto y = random_floats(4 * channels, 1);
    const auto bias = random_floats(channels, 2);
    const auto run = [&](const kernels::Table& table, int threads) {
      std::vector<float> out = y;
      out.resize(y.size() + bias.size() + static_cast<std::size_t>(4 * wide));
      float* sums = out.data() + y.size();
      table.add_bias({Element::kF32, out.data(), bias.data(), 4, channels}, threads);
      table.bias_gradient({Element::kF32, y.data(), sums, 4, channels, nullptr}, threads);
      table.pad_channels({Element::kF32, 4, channels, y.data(), channels, sums + channels, wide},
                         threads);
      return out;
    };
    expect_same_bits(run, "rows");
    const auto got = run(kernels::best(), 1);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t row = i / bias.size();
      const std::size_t c = i % bias.size();
      EXPECT_EQ(got[i], y[i] + bias[c]);
      EXPECT_EQ(got[y.size() + bias.size() + row * static_cast<std::size_t>(wide) + c], y[i]);
    }
    for (std::size_t c = 0; c < bias.size(); ++c) {
      double sum = 0;
      for (std::size_t row = 0; row < 4; ++row) sum += y[row * bias.size() + c];
      EXPECT_EQ(got[y.size() + c], static_cast<float>(sum));
    }
    for (std::int64_t i = channels; i < wide; ++i) {
      EXPECT_EQ(got[y.size() + bias.size() + static_cast<std::size_t>(i)], 0);
    }
  }
}

}  // namespace winnow::train::softmax_kernels_test

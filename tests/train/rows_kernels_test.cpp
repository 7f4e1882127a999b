#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/train/kernel_runs.h"
#include "train/backend/onednn/kernels/layer_norm_internal.h"

// Kernels over rows of channels: scale, layer norm, local response norm, dropout.
namespace winnow::train::rows_kernels_test {

using kernel_runs::expect_same_bits;
using kernel_runs::random_floats;

kernels::GroupNormLayer rows_of(std::int64_t rows, std::int64_t channels) {
  return {Element::kF32, rows, 1, channels, 1, 1e-6};
}

// y, mean, variance, dx, dscale and dshift, concatenated.
std::vector<float> layer_norm(const kernels::Table& table, const kernels::GroupNormLayer& layer,
                              float about, int threads) {
  const auto x = random_floats(layer.batch * layer.channels, 1, about);
  const auto dy = random_floats(layer.batch * layer.channels, 2);
  const auto scale = random_floats(layer.channels, 3);
  const auto shift = random_floats(layer.channels, 4);
  const std::size_t rows = static_cast<std::size_t>(layer.batch);
  const std::size_t channels = static_cast<std::size_t>(layer.channels);
  std::vector<float> out(2 * x.size() + 2 * rows + 2 * channels);
  float* mean = out.data() + x.size();
  float* dx = mean + 2 * rows;
  std::vector<double> scratch(
      static_cast<std::size_t>(kernels::layer_norm_scratch_bytes(layer.channels)) / 8);
  table.layer_norm({.layer = layer,
                    .x = x.data(),
                    .y = out.data(),
                    .scale = scale.data(),
                    .shift = shift.data(),
                    .statistics = {mean, mean + rows},
                    .scratch = nullptr},
                   threads);
  table.layer_norm_backward({.layer = layer,
                             .x = x.data(),
                             .dy = dy.data(),
                             .scale = scale.data(),
                             .statistics = {mean, mean + rows},
                             .gradients = {dx, dx + x.size(), dx + x.size() + channels},
                             .scratch = scratch.data()},
                            threads);
  return out;
}

TEST(OneDnnLayerNorm, InstructionSetsAndThreadsGiveTheSameBits) {
  for (const std::int64_t channels : {6, 16, 51, 96}) {
    expect_same_bits(
        [&](const kernels::Table& table, int threads) {
          return layer_norm(table, rows_of(301, channels), 0, threads);
        },
        "layer norm");
  }
}

TEST(OneDnnLayerNorm, VarianceOfDataFarFromZeroIsKept) {
  const std::int64_t rows = 5;
  const std::int64_t channels = 40;
  const auto x = random_floats(rows * channels, 1, 10'000);
  const auto out = layer_norm(kernels::best(), rows_of(rows, channels), 10'000, 1);
  for (std::int64_t row = 0; row < rows; ++row) {
    double mean = 0;
    double variance = 0;
    const float* first = x.data() + row * channels;
    for (std::int64_t c = 0; c < channels; ++c) mean += first[c] / static_cast<double>(channels);
    for (std::int64_t c = 0; c < channels; ++c) {
      variance += std::pow(first[c] - mean, 2) / static_cast<double>(channels);
    }
    EXPECT_NEAR(out[static_cast<std::size_t>(rows * channels + rows + row)], variance,
                1e-5 * variance);
  }
}

TEST(OneDnnScale, InstructionSetsAndThreadsGiveTheSameBits) {
  for (const std::int64_t channels : {5, 16, 51}) {
    for (const bool by_sample : {false, true}) {
      const kernels::ScaleLayer layer{Element::kF32, 3, 333, channels, by_sample};
      const std::int64_t factors = by_sample ? 3 * channels : channels;
      const auto x = random_floats(3 * 333 * channels, 1);
      const auto dy = random_floats(3 * 333 * channels, 2);
      const auto factor = random_floats(factors, 3);
      expect_same_bits(
          [&](const kernels::Table& table, int threads) {
            std::vector<float> out(x.size() + factor.size());
            std::vector<double> scratch(3 * 64);
            table.scale({layer, x.data(), factor.data(), out.data()}, threads);
            table.scale_factor_gradient(
                {layer, x.data(), dy.data(), out.data() + x.size(), scratch.data()}, threads);
            return out;
          },
          "scale");
    }
  }
}

TEST(OneDnnLocalResponseNorm, InstructionSetsAndThreadsGiveTheSameBits) {
  for (const std::int64_t channels : {3, 16, 51}) {
    for (const float beta : {0.75F, 0.6F}) {
      const kernels::LocalResponseNormLayer layer{Element::kF32, 1001, channels, 5, 0.3F, beta, 1};
      const auto x = random_floats(1001 * channels, 1);
      const auto dy = random_floats(1001 * channels, 2);
      expect_same_bits(
          [&](const kernels::Table& table, int threads) {
            std::vector<float> out(2 * x.size());
            table.local_response_norm({layer, x.data(), x.data(), out.data()}, threads);
            table.local_response_norm_backward({layer, x.data(), dy.data(), out.data() + x.size()},
                                               threads);
            return out;
          },
          "local response norm");
    }
  }
}

TEST(OneDnnLocalResponseNorm, NotANumberReachesItsNeighboursAlone) {
  std::vector<float> x(9, 1.0F);
  x[4] = std::nanf("");
  std::vector<float> y(9);
  const kernels::LocalResponseNormLayer layer{Element::kF32, 1, 9, 3, 0.3F, 0.75F, 1};
  kernels::best().local_response_norm({layer, x.data(), x.data(), y.data()}, 1);
  for (std::size_t c = 0; c < y.size(); ++c) EXPECT_EQ(std::isnan(y[c]), c >= 3 && c <= 5) << c;
}

TEST(OneDnnDropout, InstructionSetsAndThreadsGiveTheSameBits) {
  const std::int64_t elements = 20'011;
  const auto x = random_floats(2 * elements, 1);
  const std::vector<std::uint8_t> keys = {1, 2, 3, 4, 5, 6, 7, 8, 255, 254, 0, 0, 9, 9, 9, 9};
  for (const bool whole : {false, true}) {
    expect_same_bits(
        [&](const kernels::Table& table, int threads) {
          std::vector<float> y(x.size());
          table.dropout({.type = Element::kF32,
                         .x = x.data(),
                         .keys = keys.data(),
                         .y = y.data(),
                         .samples = 2,
                         .elements = elements,
                         .operation = 5,
                         .threshold = 1U << 30,
                         .factor = 4.0F / 3,
                         .whole_samples = whole},
                        threads);
          return y;
        },
        "dropout");
  }
}

}  // namespace winnow::train::rows_kernels_test

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/train/kernel_runs.h"
#include "train/backend/onednn/kernels/group_norm_internal.h"

namespace winnow::train::group_norm_kernels_test {

using kernel_runs::random_floats;

constexpr std::int64_t kBatch = 3;
constexpr std::int64_t kPixels = 35;

struct Results {
  std::vector<float> y, mean, variance, dx, dscale, dshift;
  std::vector<float> all() const {
    std::vector<float> out;
    for (const auto* numbers : {&y, &mean, &variance, &dx, &dscale, &dshift}) {
      out.insert(out.end(), numbers->begin(), numbers->end());
    }
    return out;
  }
};

// `numbers` stored as `type`, in memory large enough for f32.
std::vector<float> stored(const std::vector<float>& numbers, Element type) {
  std::vector<float> memory(numbers.size());
  const auto count = static_cast<std::int64_t>(numbers.size());
  kernels::tables().back()->convert({numbers.data(), Element::kF32, memory.data(), type, count}, 1);
  return memory;
}

Results run(const kernels::Table& table, const kernels::GroupNormLayer& layer,
            const std::vector<float>& numbers, int threads) {
  const auto x = stored(numbers, layer.type);
  const auto dy = stored(random_floats(static_cast<std::int64_t>(x.size()), 2), layer.type);
  const auto scale = random_floats(layer.channels, 3);
  const auto shift = random_floats(layer.channels, 4);
  const auto statistics = static_cast<std::size_t>(layer.batch * layer.groups);
  const auto channels = static_cast<std::size_t>(layer.channels);
  Results r{std::vector<float>(x.size()),   std::vector<float>(statistics),
            std::vector<float>(statistics), std::vector<float>(x.size()),
            std::vector<float>(channels),   std::vector<float>(channels)};
  std::vector<double> scratch(
      static_cast<std::size_t>(kernels::group_norm_scratch_bytes(layer.batch, layer.channels)) / 8);
  table.group_norm({.layer = layer,
                    .x = x.data(),
                    .y = r.y.data(),
                    .scale = scale.data(),
                    .shift = shift.data(),
                    .statistics = {r.mean.data(), r.variance.data()},
                    .scratch = scratch.data()},
                   threads);
  table.group_norm_backward({.layer = layer,
                             .x = x.data(),
                             .dy = dy.data(),
                             .scale = scale.data(),
                             .statistics = {r.mean.data(), r.variance.data()},
                             .gradients = {r.dx.data(), r.dscale.data(), r.dshift.data()},
                             .scratch = scratch.data()},
                            threads);
  return r;
}

TEST(OneDnnGroupNorm, InstructionSetsAndThreadsGiveTheSameBits) {
  for (const Element type : {Element::kF32, Element::kBf16}) {
    for (const std::int64_t channels : {6, 16, 51, 64}) {
      const std::int64_t groups = channels % 3 == 0 ? 3 : 8;
      const kernels::GroupNormLayer layer{type, kBatch, kPixels, channels, groups, 1e-5};
      const auto x = random_floats(kBatch * kPixels * channels, 1);
      kernel_runs::expect_same_bits(
          [&](const kernels::Table& table, int threads) {
            return run(table, layer, x, threads).all();
          },
          std::to_string(channels) + " channels");
    }
  }
}

TEST(OneDnnGroupNorm, VarianceOfDataFarFromZeroIsKept) {
  const std::int64_t channels = 8;
  const kernels::GroupNormLayer layer{Element::kF32, kBatch, kPixels, channels, 1, 1e-5};
  const auto x = random_floats(kBatch * kPixels * channels, 1, 10'000);
  const Results r = run(kernels::best(), layer, x, 1);
  const auto count = static_cast<std::size_t>(kPixels * channels);
  for (std::size_t n = 0; n < kBatch; ++n) {
    double mean = 0;
    double variance = 0;
    for (std::size_t i = 0; i < count; ++i) mean += x[n * count + i] / static_cast<double>(count);
    for (std::size_t i = 0; i < count; ++i) {
      variance += std::pow(x[n * count + i] - mean, 2) / static_cast<double>(count);
    }
    EXPECT_NEAR(r.variance[n], variance, 1e-6 * variance);
  }
}

}  // namespace winnow::train::group_norm_kernels_test

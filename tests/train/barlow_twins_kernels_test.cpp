#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/train/kernel_runs.h"

// Kernels of the Barlow Twins loss.
namespace winnow::train::barlow_twins_kernels_test {

using kernel_runs::expect_same_bits;
using kernel_runs::random_floats;

// The loss, per_sample and dz, concatenated.
std::vector<float> twins(const kernels::Table& table, const kernels::TwinsLayer& layer,
                         const std::vector<float>& z, int threads) {
  const auto samples = static_cast<std::size_t>(2 * layer.pairs);
  const std::vector<float> weights(samples, 0.5F);
  std::vector<float> out(1 + samples + z.size());
  std::vector<double> scratch(
      static_cast<std::size_t>(kernels::twins_scratch_bytes(layer)) / sizeof(double),
      std::numeric_limits<double>::quiet_NaN());
  const kernels::BarlowTwins a{.layer = layer,
                               .z = z.data(),
                               .weights = weights.data(),
                               .loss = out.data(),
                               .per_sample = out.data() + 1,
                               .dz = out.data() + 1 + samples,
                               .scratch = scratch.data()};
  table.barlow_twins(a, threads);
  table.barlow_twins_backward(a, threads);
  return out;
}

TEST(OneDnnBarlowTwins, InstructionSetsAndThreadsGiveTheSameBits) {
  for (const std::int64_t features : {1, 21, 48, 131}) {
    for (const std::int64_t pairs : {2, 7, 64}) {
      const kernels::TwinsLayer layer{Element::kF32, pairs, features, 0.05, 1e-5};
      const std::vector<float> z = random_floats(2 * pairs * features, 3, 2);
      expect_same_bits(
          [&](const kernels::Table& table, int threads) { return twins(table, layer, z, threads); },
          "barlow twins");
    }
  }
}

TEST(OneDnnBarlowTwins, NotANumberStaysOne) {
  std::vector<float> z = random_floats(24, 1);
  z[5] = std::numeric_limits<float>::quiet_NaN();
  const auto out = twins(kernels::best(), {Element::kF32, 4, 3, 0.05, 1e-5}, z, 1);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_TRUE(std::isnan(out[i])) << i;
}

TEST(OneDnnBarlowTwins, ConstantFeaturesHaveNoGradient) {
  const auto out =
      twins(kernels::best(), {Element::kF32, 4, 3, 0.05, 1e-5}, std::vector<float>(24, 7), 1);
  EXPECT_EQ(out[1], 1);
  for (std::size_t i = 9; i < out.size(); ++i) EXPECT_EQ(out[i], 0) << i;
}

}  // namespace winnow::train::barlow_twins_kernels_test

#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/rng.h"
#include "train/backend/onednn/kernels.h"

// Helpers for tests of the kernels of backend_onednn.
namespace winnow::train::kernel_runs {

// `count` numbers within 1 of `about`, which depend on `id`.
inline std::vector<float> random_floats(std::int64_t count, std::uint64_t id, float about = 0) {
  CounterRng rng(9, 0, id, RandomUse::kTest);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) number = about + static_cast<float>(2 * rng.uniform() - 1);
  return numbers;
}

// Runs kernels of a table on this many threads. Returns everything they wrote, concatenated.
using KernelRun = std::function<std::vector<float>(const kernels::Table& table, int threads)>;

// Expects the same bits from every table that this machine can run, on 1 to 3 threads.
inline void expect_same_bits(const KernelRun& run, const std::string& what) {
  const auto bits = [&run](const kernels::Table& table, int threads) {
    std::vector<std::uint32_t> all;
    for (const float number : run(table, threads))
      all.push_back(std::bit_cast<std::uint32_t>(number));
    return all;
  };
  const auto want = bits(*kernels::tables().back(), 1);
  for (const kernels::Table* table : kernels::tables()) {
    if (!kernels::runs_here(*table)) continue;
    for (const int threads : {1, 2, 3}) {
      EXPECT_TRUE(bits(*table, threads) == want)
          << what << ", " << table->name << ", " << threads << " threads";
    }
  }
}

}  // namespace winnow::train::kernel_runs

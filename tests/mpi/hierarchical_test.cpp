#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <deque>
#include <span>
#include <vector>

#include "tests/mpi/mpi_test.h"
#include "tests/mpi/start.h"

// The all-reduce by HierarchicalParts. Its ranks are processes that share memory.

namespace winnow::comm::hierarchical_test {

std::vector<float> whole_numbers(std::size_t count, std::size_t seed) {
  std::vector<float> out(count);
  const auto rank = static_cast<std::size_t>(mpi_world().rank());
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = static_cast<float>((i * 7919 + seed * 104'729 + rank * 15'485'863) % 2001) - 1000;
  }
  return out;
}

HierarchicalParts parts_of(std::size_t count) {
  return hierarchical_parts(mpi_world().placement(), count, {.segment_elements = 1000});
}

TEST(Hierarchical, EqualsMpiAllreduceOnWholeNumbers) {
  for (const std::size_t count : {0, 1, 2, 3, 7, 1009, 16'384, 65'537, 1'000'003}) {
    std::vector<float> sum = whole_numbers(count, count);
    std::vector<float> expected = sum;
    mpi_world().library_all_reduce(expected);
    const HierarchicalParts parts = parts_of(count);
    mpi_world().start_all_reduce(sum, parts).wait();
    EXPECT_EQ(sum, expected) << count << " elements";
  }
}

// Other all-reduces, by messages, run at the same time.
TEST(Hierarchical, MayBeInFlightInAnyNumber) {
  const std::vector<std::size_t> counts{100'000, 3, 70'001, 0, 1, 250'000, 12'345, 40};
  std::deque<std::vector<float>> sums;
  std::deque<std::vector<float>> flat;
  std::deque<HierarchicalParts> parts;
  std::vector<Pending> pending;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    parts.push_back(parts_of(counts[i]));
    sums.push_back(whole_numbers(counts[i], i));
    flat.push_back(whole_numbers(counts[i], i));
    pending.push_back(mpi_world().start_all_reduce(sums.back(), parts.back()));
    pending.push_back(start(mpi_world(), flat.back(), "multicolor", {.segment_elements = 999}));
  }
  for (Pending& one : pending) one.wait();
  EXPECT_EQ(sums, flat);
}

TEST(Hierarchical, HasTheSameBitsOnAllRanksRunAfterRun) {
  constexpr std::size_t kCount = 300'007;
  const HierarchicalParts parts = parts_of(kCount);
  std::vector<float> first;
  for (int run = 0; run < 5; ++run) {
    std::vector<float> sum = whole_numbers(kCount, 1);
    for (float& value : sum) value /= 777;
    mpi_world().start_all_reduce(sum, parts).wait();
    std::vector<float> of_root = sum;
    mpi_world().broadcast(std::as_writable_bytes(std::span(of_root)), 0);
    EXPECT_EQ(std::memcmp(sum.data(), of_root.data(), kCount * sizeof(float)), 0);
    if (run == 0) first = sum;
    EXPECT_EQ(std::memcmp(sum.data(), first.data(), kCount * sizeof(float)), 0);
  }
}

}  // namespace winnow::comm::hierarchical_test

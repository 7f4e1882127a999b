#include "pipeline/store/partition.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace winnow::pipeline::partition_test {

TEST(Partition, NeverChanges) {
  std::vector<int> found;
  for (const SampleId id : {0ULL, 1ULL, 2ULL, 3ULL, 1000ULL, (1ULL << 48) + 7}) {
    found.push_back(partition_of(id, 1000));
  }
  EXPECT_EQ(found, (std::vector<int>{779, 186, 127, 303, 543, 330}));
}

TEST(Partition, HasItsShareOfAnyRunOfIds) {
  constexpr int kPartitions = 7;
  constexpr int kCount = 70'000;
  for (const SampleId first : {SampleId{0}, SampleId{1} << 48, SampleId{123'456'789}}) {
    std::vector<int> counts(kPartitions, 0);
    for (int i = 0; i < kCount; ++i) {
      ++counts.at(
          static_cast<std::size_t>(partition_of(first + static_cast<SampleId>(i), kPartitions)));
    }
    double chi2 = 0;
    for (const int count : counts) chi2 += std::pow(count - 10'000, 2) / 10'000.0;
    EXPECT_LT(chi2, 22.5);  // 6 degrees of freedom: exceeded once in a thousand
  }
}

TEST(Partition, OfTwiceAsManyIsAHalf) {
  for (SampleId id = 0; id < 10'000; ++id) {
    EXPECT_EQ(partition_of(id, 1), 0);
    EXPECT_EQ(partition_of(id, 12) / 2, partition_of(id, 6));
  }
}

}  // namespace winnow::pipeline::partition_test

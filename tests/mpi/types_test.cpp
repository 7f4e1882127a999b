// All-reduces, reduce-scatters and all-gathers of every element type by every schedule, with and
// without checksums, at many numbers of ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include "common/comm/schedule/shares.h"
#include "common/error.h"
#include "common/small_float.h"
#include "tests/mpi/mpi_test.h"

namespace winnow::comm::types_test {

template <class T>
constexpr bool kIsSmall = std::is_same_v<T, BF16> || std::is_same_v<T, F16>;

template <class T>
double value_of(T value) {
  if constexpr (kIsSmall<T>) {
    return to_float(value);
  } else {
    return static_cast<double>(value);
  }
}

template <class T>
T element(double value) {
  if constexpr (kIsSmall<T>) {
    return round_to<T>(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

// The error of one rounding.
template <class T>
double epsilon() {
  if constexpr (std::is_same_v<T, BF16>) {
    return 0x1p-8;
  } else if constexpr (std::is_same_v<T, F16>) {
    return 0x1p-11;
  } else {
    return double{std::numeric_limits<T>::epsilon()};
  }
}

std::vector<double> mpi_sum(std::vector<double> values) {
  mpi_world().all_reduce(values);
  return values;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
bool same_on_all_ranks(const std::vector<T>& values) {
  std::vector<T> of_root = values;
  mpi_world().broadcast(std::as_writable_bytes(std::span(of_root)), 0);
  return mpi_sum({same_bits(values, of_root) ? 0.0 : 1.0})[0] == 0;
}

// Sums of integers up to 3 are exact in any type for up to 85 ranks. They are held as doubles here.
std::vector<double> whole_numbers(std::size_t count, int rank) {
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = static_cast<double>((i * 7 + static_cast<std::size_t>(rank) * 5) % 4);
  }
  return out;
}

std::vector<double> normals(std::size_t count, int rank) {
  std::mt19937 random(77 + static_cast<std::uint32_t>(rank));
  std::normal_distribution<double> normal;
  std::vector<double> out(count);
  std::ranges::generate(out, [&] { return normal(random); });
  return out;
}

template <class T>
std::vector<T> elements_of(const std::vector<double>& values) {
  std::vector<T> out;
  for (const double value : values) out.push_back(element<T>(value));
  return out;
}

template <class T>
std::vector<double> values_of(const std::vector<T>& elements) {
  std::vector<double> out;
  for (const T one : elements) out.push_back(value_of(one));
  return out;
}

std::vector<std::size_t> counts() {
  const auto p = static_cast<std::size_t>(mpi_world().size());
  if (p > 8) return {0, 1, p - 1, p + 1, 257, 1009};  // many ranks share few cores
  return {0, 1, p - 1, p, p + 1, 97, 255, 257, 1009, 4099};
}

constexpr ScheduleOptions kFine{.colors = 3, .segment_elements = 100};

std::vector<Transfer> transfers_of(const Schedule& schedule, std::size_t count) {
  return schedule.all_reduce(mpi_world().placement(), count, kFine);
}

template <class T>
class Types : public testing::Test {};
using All = testing::Types<float, double, BF16, F16, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(Types, All);

TYPED_TEST(Types, WholeNumbersAddUpExactly) {
  for (const Schedule& schedule : schedules()) {
    for (const std::size_t count : counts()) {
      const std::vector<double> mine = whole_numbers(count, mpi_world().rank());
      std::vector<TypeParam> buffer = elements_of<TypeParam>(mine);
      const auto transfers = transfers_of(schedule, count);
      mpi_world().start_all_reduce(buffer, transfers).wait();
      ASSERT_EQ(values_of(buffer), mpi_sum(mine)) << schedule.name << ", " << count << " elements";
    }
  }
}

// The bound on size() - 1 roundings in any order. All ranks have the same bits.
TYPED_TEST(Types, OthersAreAsNearAsRoundingsAllow) {
  if constexpr (!std::is_integral_v<TypeParam>) {
    for (const Schedule& schedule : schedules()) {
      for (const std::size_t count : counts()) {
        const auto mine = elements_of<TypeParam>(normals(count, mpi_world().rank()));
        const std::vector<double> values = values_of(mine);
        std::vector<double> magnitudes = values;
        for (double& value : magnitudes) value = std::abs(value);
        const std::vector<double> expected = mpi_sum(values);
        const std::vector<double> bound = mpi_sum(magnitudes);
        std::vector<TypeParam> sum(count);
        const auto transfers = transfers_of(schedule, count);
        mpi_world()
            .start_all_reduce(std::span<const TypeParam>(mine), std::span(sum), transfers)
            .wait();
        ASSERT_EQ(values_of(mine), values) << "what is summed is read only";
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_NEAR(value_of(sum[i]), expected[i],
                      mpi_world().size() * epsilon<TypeParam>() * bound[i])
              << schedule.name << ", element " << i;
        }
        ASSERT_TRUE(same_on_all_ranks(sum)) << schedule.name;
      }
    }
  }
}

TYPED_TEST(Types, NanAndInfinityTravel) {
  if constexpr (!std::is_integral_v<TypeParam>) {
    for (const Schedule& schedule : schedules()) {
      std::vector<double> values(1009, 1.0);
      if (mpi_world().rank() == mpi_world().size() - 1) {
        values[0] = std::numeric_limits<double>::quiet_NaN();
        values[500] = std::numeric_limits<double>::infinity();
        values[1008] = -std::numeric_limits<double>::infinity();
      }
      std::vector<TypeParam> buffer = elements_of<TypeParam>(values);
      const auto transfers = transfers_of(schedule, buffer.size());
      mpi_world().start_all_reduce(buffer, transfers).wait();
      EXPECT_TRUE(std::isnan(value_of(buffer[0])));
      EXPECT_EQ(value_of(buffer[500]), std::numeric_limits<double>::infinity());
      EXPECT_EQ(value_of(buffer[1008]), -std::numeric_limits<double>::infinity());
      EXPECT_EQ(std::ranges::count_if(values_of(buffer), [](double x) { return std::isfinite(x); }),
                1006);
    }
  }
}

// 65504 is the largest of f16.
TEST(F16, SumsBeyondTheLargestAreInfinite) {
  if (mpi_world().size() == 1) GTEST_SKIP() << "one rank adds nothing";
  for (const Schedule& schedule : schedules()) {
    std::vector<F16> buffer(300, to_f16(60'000.0F));
    const auto transfers = transfers_of(schedule, buffer.size());
    mpi_world().start_all_reduce(buffer, transfers).wait();
    for (const F16 value : buffer) {
      ASSERT_EQ(to_float(value), std::numeric_limits<float>::infinity());
    }
  }
}

// Sums in buffers of 16 bits equal those of f32 with this wire format, to the bit.
template <class Small>
void expect_sums_of_the_wire(Wire wire) {
  for (const Schedule& schedule : schedules()) {
    const auto small = elements_of<Small>(normals(1009, mpi_world().rank()));
    std::vector<Small> sum = small;
    std::vector<float> floats;
    for (const Small value : small) floats.push_back(to_float(value));
    const auto transfers = transfers_of(schedule, small.size());
    mpi_world().start_all_reduce(sum, transfers).wait();
    mpi_world().start_all_reduce(floats, transfers, wire).wait();
    for (std::size_t i = 0; i < sum.size(); ++i) ASSERT_EQ(to_float(sum[i]), floats[i]);
  }
}
TEST(BF16, SumsAreThoseOfItsWire) { expect_sums_of_the_wire<BF16>(Wire::kBF16); }
TEST(F16, SumsAreThoseOfItsWire) { expect_sums_of_the_wire<F16>(Wire::kF16); }

TYPED_TEST(Types, RepeatToTheBitWithAndWithoutChecksums) {
  const auto mine = elements_of<TypeParam>(normals(counts().back(), mpi_world().rank()));
  for (const Schedule& schedule : schedules()) {
    const auto transfers = transfers_of(schedule, mine.size());
    std::vector<TypeParam> first;
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::vector<TypeParam> buffer = mine;
      mpi_world().use_checksums(repeat % 2 == 1);
      mpi_world().start_all_reduce(buffer, transfers).wait();
      if (repeat == 0) first = buffer;
      ASSERT_TRUE(same_bits(buffer, first)) << schedule.name << ", repetition " << repeat;
    }
  }
  mpi_world().use_checksums(false);
}

// Checks the sum in each rank's share, and then the whole buffer on every rank.
TYPED_TEST(Types, SharesAreSummedAndGathered) {
  const int rank = mpi_world().rank();
  const int ranks = mpi_world().size();
  for (const bool checksums : {false, true}) {
    mpi_world().use_checksums(checksums);
    for (const ShareSchedule& schedule : share_schedules()) {
      for (const std::size_t count : counts()) {
        for (const std::size_t segment : {7UL, 100'000UL}) {
          if (segment < 10 && count > 300) continue;
          const ScheduleOptions options{.segment_elements = segment};
          const std::vector<double> mine = whole_numbers(count, rank);
          const std::vector<double> expected = mpi_sum(mine);
          std::vector<TypeParam> buffer = elements_of<TypeParam>(mine);
          const Placement& placement = mpi_world().placement();
          const auto scatter = schedule.reduce_scatter(placement, count, options);
          const auto gather = schedule.all_gather(placement, count, options);
          mpi_world().start_reduce_scatter(buffer, scatter).wait();
          const Share share = share_of(rank, ranks, count);
          for (std::size_t i = 0; i < count; ++i) {
            if (i >= share.begin && i < share.begin + share.count) {
              ASSERT_EQ(value_of(buffer[i]), expected[i]) << schedule.name;
            } else {
              buffer[i] = element<TypeParam>(99);  // the other ranks must overwrite it
            }
          }
          mpi_world().start_all_gather(buffer, gather).wait();
          ASSERT_EQ(values_of(buffer), expected) << schedule.name << ", " << count << " elements";
        }
      }
    }
  }
  mpi_world().use_checksums(false);
}

// Two buckets and an exchange of data at a time, with each rank at its own pace.
TYPED_TEST(Types, SeveralInFlightWhileRanksDally) {
  const int rank = mpi_world().rank();
  const auto ranks = static_cast<std::size_t>(mpi_world().size());
  std::mt19937 random(5 + static_cast<std::uint32_t>(rank));
  const auto dally = [&] {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
  };
  std::vector<std::size_t> offsets;
  for (std::size_t r = 0; r <= ranks; ++r) offsets.push_back(400 * r);
  for (const Schedule& schedule : schedules()) {
    mpi_world().use_checksums(schedule.name == "ring");
    const std::vector<double> one = whole_numbers(3001, rank);
    const std::vector<double> other = whole_numbers(513, rank + 3);
    std::vector<TypeParam> first = elements_of<TypeParam>(one);
    std::vector<TypeParam> second = elements_of<TypeParam>(other);
    const std::vector<std::byte> out(offsets.back(), static_cast<std::byte>(rank));
    std::vector<std::byte> in(offsets.back());
    const auto long_one = transfers_of(schedule, first.size());
    const auto short_one = transfers_of(schedule, second.size());
    dally();
    Pending of_first = mpi_world().start_all_reduce(first, long_one);
    dally();
    Pending of_data = mpi_world().start_all_to_all(out, offsets, in, offsets, kFine);
    dally();
    Pending of_second = mpi_world().start_all_reduce(second, short_one);
    dally();
    of_second.wait();
    of_data.wait();
    of_first.wait();
    EXPECT_EQ(values_of(first), mpi_sum(one)) << schedule.name;
    EXPECT_EQ(values_of(second), mpi_sum(other)) << schedule.name;
    for (std::size_t i = 0; i < in.size(); ++i) {
      ASSERT_EQ(in[i], static_cast<std::byte>(i / 400)) << schedule.name;
    }
  }
  mpi_world().use_checksums(false);
}

TEST(Refused, WhatNoSumIs) {
  std::vector<float> floats(10);
  std::vector<double> doubles(10);
  std::vector<float> fewer(9);
  const std::vector<Transfer> none;
  if (mpi_world().size() > 1) {
    EXPECT_THROW(mpi_world().start_all_reduce(floats, Reduction::kMax, none).wait(), Error);
    EXPECT_THROW(mpi_world().start_all_reduce(doubles, none, Wire::kBF16).wait(), Error);
  }
  EXPECT_THROW(
      mpi_world().start_all_reduce(std::span<const float>(floats), std::span(fewer), none).wait(),
      Error);
  mpi_world().barrier();
}

}  // namespace winnow::comm::types_test

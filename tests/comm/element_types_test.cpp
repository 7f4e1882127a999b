// Sums of every element type by every schedule, for many numbers of ranks. All ranks are in one
// process and use the arithmetic of the engine over MPI. tests/mpi/types_test.cpp runs two numbers
// of ranks over MPI itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "common/comm/mpi/combine_internal.h"
#include "common/comm/schedule/shares.h"
#include "common/small_float.h"
#include "tests/comm/vector_executor.h"

namespace winnow::comm::element_types_test {

constexpr ScheduleOptions kFine{.colors = 3, .segment_elements = 100};

std::vector<int> numbers_of_ranks() {
  std::vector<int> out(17);
  std::iota(out.begin(), out.end(), 1);
  out.push_back(24);
  return out;
}

std::vector<std::size_t> counts(int ranks) {
  const auto p = static_cast<std::size_t>(ranks);
  return {0, 1, p - 1, p, p + 1, 97, 255, 257, 1009, 4099};
}

template <class T>
constexpr bool kIsSmall = std::is_same_v<T, BF16> || std::is_same_v<T, F16>;

// The type that the engine computes with: float for types of 16 bits (Communicator::start).
template <class T>
using Worked = std::conditional_t<kIsSmall<T>, float, T>;

template <class T>
Combine combine_for() {
  const Wire wire = std::is_same_v<T, BF16>  ? Wire::kBF16
                    : std::is_same_v<T, F16> ? Wire::kF16
                                             : Wire::kF32;
  std::vector<Worked<T>> some(1);
  return combine_of({.buffer = std::span(some), .wire = wire});
}

template <class T>
double epsilon() {  // one rounding
  if constexpr (std::is_same_v<T, BF16>) {
    return 0x1p-8;
  } else if constexpr (std::is_same_v<T, F16>) {
    return 0x1p-11;
  } else {
    return double{std::numeric_limits<T>::epsilon()};
  }
}

// The same as in the engine's channels (common/comm/mpi/channel.cpp).
template <class T>
struct Move {
  const Combine combine = combine_for<T>();
  std::vector<std::vector<Worked<T>>>& buffers;

  std::byte* range(int rank, const Transfer& transfer) const {
    return reinterpret_cast<std::byte*>(buffers[static_cast<std::size_t>(rank)].data() +
                                        transfer.begin);
  }
  std::vector<std::byte> send(int rank, const Transfer& transfer) const {
    std::vector<std::byte> message(transfer.count * combine.message_bytes());
    if (combine.coding != nullptr) {
      combine.coding->encode(range(rank, transfer), message.data(), transfer.count);
    } else {
      std::copy_n(range(rank, transfer), message.size(), message.data());
    }
    return message;
  }
  void receive(int rank, const Transfer& transfer, const std::vector<std::byte>& message) const {
    if (transfer.kind == Transfer::Kind::kReceiveAdd) {
      combine.apply(range(rank, transfer), message.data(), transfer.count);
    } else if (combine.coding != nullptr) {
      combine.coding->decode(range(rank, transfer), message.data(), transfer.count);
    } else {
      std::copy_n(message.data(), message.size(), range(rank, transfer));
    }
  }
  void end_round(int rank, std::span<const Transfer> round) const {
    if (combine.coding == nullptr) return;
    for (const Transfer& transfer : round) {
      if (transfer.kind == Transfer::Kind::kReceiveAdd) {
        combine.coding->encode(range(rank, transfer), nullptr, transfer.count);
      }
    }
  }
};

template <class T>
Worked<T> worked(double value) {
  if constexpr (kIsSmall<T>) {
    return to_float(round_to<T>(static_cast<float>(value)));
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
using Buffers = std::vector<std::vector<Worked<T>>>;

// Each rank's values, rounded to the type.
template <class T, class Value>
Buffers<T> buffers_of(int ranks, std::size_t count, const Value& value) {
  Buffers<T> out(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    for (std::size_t i = 0; i < count; ++i) {
      out[static_cast<std::size_t>(rank)].push_back(worked<T>(value(rank, i)));
    }
  }
  return out;
}

// The final values rounded to 16 bits, as Communicator::start does.
template <class T>
void round_back(Buffers<T>& buffers) {
  if constexpr (kIsSmall<T>) {
    for (auto& buffer : buffers) {
      for (float& value : buffer) value = to_float(round_to<T>(value));
    }
  }
}

template <class T>
bool all_reduce(const Schedule& schedule, Buffers<T>& buffers) {
  const int ranks = static_cast<int>(buffers.size());
  const auto transfers = transfers_of_all(schedule, ranks, buffers[0].size(), kFine);
  const bool done = execute_in_process(transfers, Move<T>{.buffers = buffers});
  round_back<T>(buffers);
  return done;
}

// Sums of integers up to 3 are exact in any type for up to 85 ranks.
double whole_number(int rank, std::size_t i) {
  return static_cast<double>((i * 7 + static_cast<std::size_t>(rank) * 5) % 4);
}

template <class T>
double sum_at(const Buffers<T>& buffers, std::size_t i) {
  double sum = 0;
  for (const auto& buffer : buffers) sum += static_cast<double>(buffer[i]);
  return sum;
}

template <class T>
void expect_equal_bits(const Buffers<T>& buffers, const std::string& where) {
  for (const auto& buffer : buffers) {
    ASSERT_TRUE(buffer.empty() || std::memcmp(buffer.data(), buffers[0].data(),
                                              buffer.size() * sizeof(buffer[0])) == 0)
        << where;
  }
}

std::string where(std::string_view schedule, int ranks, std::size_t count) {
  return std::string(schedule) + ", " + std::to_string(ranks) + " ranks, " + std::to_string(count) +
         " elements";
}

template <class T>
class ElementTypes : public testing::Test {};
using All = testing::Types<float, double, BF16, F16, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(ElementTypes, All);

template <class T>
class RoundedTypes : public testing::Test {};
using Rounded = testing::Types<float, double, BF16, F16>;
TYPED_TEST_SUITE(RoundedTypes, Rounded);

TYPED_TEST(ElementTypes, WholeNumbersAddUpExactly) {
  for (const int ranks : numbers_of_ranks()) {
    for (const Schedule& schedule : schedules()) {
      for (const std::size_t count : counts(ranks)) {
        auto buffers = buffers_of<TypeParam>(ranks, count, whole_number);
        const auto before = buffers;
        ASSERT_TRUE(all_reduce<TypeParam>(schedule, buffers)) << where(schedule.name, ranks, count);
        expect_equal_bits<TypeParam>(buffers, where(schedule.name, ranks, count));
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_EQ(static_cast<double>(buffers[0][i]), sum_at<TypeParam>(before, i))
              << where(schedule.name, ranks, count) << ", element " << i;
        }
      }
    }
  }
}

// The bound on ranks - 1 roundings in any order.
TYPED_TEST(RoundedTypes, OthersAreAsNearAsRoundingsAllow) {
  for (const int ranks : numbers_of_ranks()) {
    std::mt19937 random(77);
    std::normal_distribution<double> normal;
    for (const Schedule& schedule : schedules()) {
      for (const std::size_t count : {std::size_t{257}, std::size_t{1009}}) {
        auto buffers =
            buffers_of<TypeParam>(ranks, count, [&](int, std::size_t) { return normal(random); });
        const auto before = buffers;
        ASSERT_TRUE(all_reduce<TypeParam>(schedule, buffers)) << where(schedule.name, ranks, count);
        expect_equal_bits<TypeParam>(buffers, where(schedule.name, ranks, count));
        for (std::size_t i = 0; i < count; ++i) {
          double magnitude = 0;
          for (const auto& buffer : before) magnitude += std::abs(static_cast<double>(buffer[i]));
          ASSERT_NEAR(static_cast<double>(buffers[0][i]), sum_at<TypeParam>(before, i),
                      ranks * epsilon<TypeParam>() * magnitude)
              << where(schedule.name, ranks, count) << ", element " << i;
        }
      }
    }
  }
}

TYPED_TEST(RoundedTypes, NanAndInfinityTravel) {
  for (const int ranks : numbers_of_ranks()) {
    for (const Schedule& schedule : schedules()) {
      auto buffers = buffers_of<TypeParam>(ranks, 1009, [](int, std::size_t) { return 1.0; });
      buffers.back()[0] = std::numeric_limits<Worked<TypeParam>>::quiet_NaN();
      buffers.back()[500] = std::numeric_limits<Worked<TypeParam>>::infinity();
      buffers.back()[1008] = -std::numeric_limits<Worked<TypeParam>>::infinity();
      ASSERT_TRUE(all_reduce<TypeParam>(schedule, buffers)) << where(schedule.name, ranks, 1009);
      for (const auto& buffer : buffers) {
        ASSERT_TRUE(std::isnan(buffer[0])) << where(schedule.name, ranks, 1009);
        ASSERT_TRUE(std::isinf(buffer[500]) && buffer[500] > 0)
            << where(schedule.name, ranks, 1009);
        ASSERT_TRUE(std::isinf(buffer[1008]) && buffer[1008] < 0)
            << where(schedule.name, ranks, 1009);
        ASSERT_EQ(std::ranges::count_if(buffer, [](auto x) { return std::isfinite(x); }), 1006);
      }
    }
  }
}

// 65504 is the largest of f16.
TEST(ElementTypesOfF16, SumsBeyondTheLargestAreInfinite) {
  for (const int ranks : numbers_of_ranks()) {
    if (ranks == 1) continue;  // a single rank adds nothing
    for (const Schedule& schedule : schedules()) {
      auto buffers = buffers_of<F16>(ranks, 300, [](int, std::size_t) { return 60'000.0; });
      ASSERT_TRUE(all_reduce<F16>(schedule, buffers));
      for (const auto& buffer : buffers) {
        for (const float value : buffer) {
          ASSERT_EQ(value, std::numeric_limits<float>::infinity())
              << where(schedule.name, ranks, 300);
        }
      }
    }
  }
}

// Checks the sum in each rank's share, and then the whole buffer on every rank.
TYPED_TEST(ElementTypes, SharesAreSummedAndGathered) {
  for (const int ranks : numbers_of_ranks()) {
    for (const ShareSchedule& schedule : share_schedules()) {
      for (const std::size_t count : counts(ranks)) {
        for (const std::size_t segment : {7UL, 100'000UL}) {
          if (segment < 10 && count > 300) continue;
          const ScheduleOptions options{.segment_elements = segment};
          const auto of_all = [&](auto generator) {
            std::vector<std::vector<Transfer>> out;
            for (int rank = 0; rank < ranks; ++rank) {
              out.push_back(generator(one_machine(rank, ranks), count, options));
            }
            return out;
          };
          auto buffers = buffers_of<TypeParam>(ranks, count, whole_number);
          const auto before = buffers;
          ASSERT_TRUE(execute_in_process(of_all(schedule.reduce_scatter),
                                         Move<TypeParam>{.buffers = buffers}));
          for (int rank = 0; rank < ranks; ++rank) {
            const Share share = share_of(rank, ranks, count);
            for (std::size_t i = 0; i < count; ++i) {
              Worked<TypeParam>& value = buffers[static_cast<std::size_t>(rank)][i];
              if (i >= share.begin && i < share.begin + share.count) {
                ASSERT_EQ(static_cast<double>(value), sum_at<TypeParam>(before, i))
                    << where(schedule.name, ranks, count);
              } else {
                value = worked<TypeParam>(99);  // the other ranks must overwrite it
              }
            }
          }
          ASSERT_TRUE(
              execute_in_process(of_all(schedule.all_gather), Move<TypeParam>{.buffers = buffers}));
          for (const auto& buffer : buffers) {
            for (std::size_t i = 0; i < count; ++i) {
              ASSERT_EQ(static_cast<double>(buffer[i]), sum_at<TypeParam>(before, i))
                  << where(schedule.name, ranks, count);
            }
          }
        }
      }
    }
  }
}

}  // namespace winnow::comm::element_types_test

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "common/error.h"
#include "tests/mpi/mpi_test.h"
#include "tests/mpi/start.h"

// The expected sums come from MPI_Iallreduce, which Communicator::all_reduce of doubles calls.

namespace winnow::comm::all_reduce_test {

// Values that depend only on rank and element, so other ranks' values are known without
// communication.
std::vector<float> normals(std::size_t count, int rank, std::uint32_t seed) {
  std::mt19937 random(seed * 1000 + static_cast<std::uint32_t>(rank));
  std::normal_distribution<float> normal;
  std::vector<float> out(count);
  std::ranges::generate(out, [&] { return normal(random); });
  return out;
}

std::vector<float> integers(std::size_t count, int rank, std::uint32_t seed) {
  std::mt19937 random(seed * 1000 + static_cast<std::uint32_t>(rank));
  std::uniform_int_distribution<int> number(-1000, 1000);
  std::vector<float> out(count);
  std::ranges::generate(out, [&] { return static_cast<float>(number(random)); });
  return out;
}

std::vector<double> mpi_sum(const std::vector<float>& values) {
  std::vector<double> out(values.begin(), values.end());
  mpi_world().all_reduce(out);
  return out;
}

// Whether all ranks have the bits of rank 0. Every rank gets the same answer.
bool same_on_all_ranks(const std::vector<float>& values) {
  std::vector<float> of_root = values;
  mpi_world().broadcast(std::as_writable_bytes(std::span(of_root)), 0);
  std::vector<double> different{values.empty() || std::memcmp(values.data(), of_root.data(),
                                                              values.size() * sizeof(float)) == 0
                                    ? 0.0
                                    : 1.0};
  mpi_world().all_reduce(different);
  return different[0] == 0;
}

struct Case {
  std::string_view schedule;
  ScheduleOptions options;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.schedule << " colors " << c.options.colors << " segments of "
       << c.options.segment_elements;
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const Schedule& schedule : schedules()) {
    out.push_back({schedule.name, {}});
    out.push_back({schedule.name, {.colors = 2, .segment_elements = 100}});
    out.push_back({schedule.name, {.colors = 3, .segment_elements = 5000}});
  }
  return out;
}

class AllReduce : public testing::TestWithParam<Case> {
 protected:
  template <class T>
  static Pending start(std::vector<T>& buffer, Reduction reduction = Reduction::kSum) {
    return comm::start(mpi_world(), buffer, GetParam().schedule, GetParam().options, reduction);
  }
  static std::vector<std::size_t> counts() {
    const auto p = static_cast<std::size_t>(mpi_world().size());
    // The last count is larger than a window of small segments, and its sends wait for their
    // receiver.
    return {0, 1, p - 1, p, p + 1, 97, 1009, 50'021};
  }
};

TEST_P(AllReduce, IntegersAreExact) {
  for (const std::size_t count : counts()) {
    std::vector<float> buffer = integers(count, mpi_world().rank(), 1);
    const std::vector<double> expected = mpi_sum(buffer);
    start(buffer).wait();
    EXPECT_TRUE(std::ranges::equal(buffer, expected)) << count << " elements";
  }
}

TEST(AllReduceOfTheLibrary, AddsUp) {
  for (const std::size_t count : {0UL, 1UL, 1009UL, 50'021UL}) {
    std::vector<float> buffer = integers(count, mpi_world().rank(), 9);
    const std::vector<double> expected = mpi_sum(buffer);
    mpi_world().library_all_reduce(buffer);
    EXPECT_TRUE(std::ranges::equal(buffer, expected)) << count << " elements";
  }
}

// The sum and the maximum of integers of all ranks, for several counts.
template <class T, class Start>
void expect_whole_numbers(const std::vector<std::size_t>& counts, const Start& start) {
  using Unsigned = std::make_unsigned_t<T>;
  const int ranks = mpi_world().size();
  const auto value = [](std::size_t i, int rank) {
    return static_cast<T>(static_cast<Unsigned>((i + 1) * 11'400'714'819'323'198'485U) *
                          static_cast<Unsigned>(rank + 1));
  };
  for (const std::size_t count : counts) {
    std::vector<T> sum(count);
    for (std::size_t i = 0; i < count; ++i) sum[i] = value(i, mpi_world().rank());
    std::vector<T> largest = sum;
    Pending adding = start(sum, Reduction::kSum);
    start(largest, Reduction::kMax).wait();
    adding.wait();
    for (std::size_t i = 0; i < count; ++i) {
      Unsigned expected_sum = 0;
      T expected_largest = value(i, 0);
      for (int rank = 0; rank < ranks; ++rank) {
        expected_sum += static_cast<Unsigned>(value(i, rank));
        expected_largest = std::max(expected_largest, value(i, rank));
      }
      ASSERT_EQ(static_cast<Unsigned>(sum[i]), expected_sum) << "element " << i;
      ASSERT_EQ(largest[i], expected_largest) << "element " << i;
    }
  }
}

TEST_P(AllReduce, WholeNumbersAddUpModulo32BitsAndTheLargestIsFound) {
  expect_whole_numbers<std::int32_t>(
      counts(), [](auto& buffer, Reduction reduction) { return start(buffer, reduction); });
}

TEST_P(AllReduce, WholeNumbersAddUpModulo64BitsAndTheLargestIsFound) {
  expect_whole_numbers<std::int64_t>(
      counts(), [](auto& buffer, Reduction reduction) { return start(buffer, reduction); });
}

TEST_P(AllReduce, TransfersServeManyTimesAndFloatsAsWellAsIntegers) {
  const std::vector<Transfer> transfers =
      find_schedule(GetParam().schedule)
          .all_reduce(mpi_world().placement(), 5003, GetParam().options);
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::vector<float> floats = integers(5003, mpi_world().rank(), 9);
    std::vector<std::int64_t> wholes(floats.begin(), floats.end());
    const std::vector<double> expected = mpi_sum(floats);
    Pending first = mpi_world().start_all_reduce(floats, transfers);
    mpi_world().start_all_reduce(wholes, Reduction::kSum, transfers).wait();
    first.wait();
    EXPECT_TRUE(std::ranges::equal(floats, expected));
    EXPECT_TRUE(std::ranges::equal(wholes, expected));
  }
}

TEST_P(AllReduce, FloatsAreCloseAndTheSameBitsEverywhere) {
  for (const std::size_t count : counts()) {
    std::vector<float> buffer = normals(count, mpi_world().rank(), 2);
    std::vector<float> magnitude = buffer;
    for (float& value : magnitude) value = std::abs(value);
    const std::vector<double> expected = mpi_sum(buffer);
    const std::vector<double> bound = mpi_sum(magnitude);
    start(buffer).wait();
    // Each element is a sum of size() terms in some order, so there are at most size() roundings.
    const double roundings = mpi_world().size() * double{std::numeric_limits<float>::epsilon()};
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_NEAR(buffer[i], expected[i], roundings * bound[i]) << "element " << i;
    }
    EXPECT_TRUE(same_on_all_ranks(buffer)) << count << " elements";
  }
}

TEST_P(AllReduce, RepeatsToTheBit) {
  const std::vector<float> mine = normals(20'011, mpi_world().rank(), 3);
  std::vector<float> first;
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::vector<float> buffer = mine;
    start(buffer).wait();
    if (repeat == 0) first = buffer;
    ASSERT_EQ(std::memcmp(buffer.data(), first.data(), buffer.size() * sizeof(float)), 0)
        << "repetition " << repeat;
  }
}

TEST_P(AllReduce, NanAndInfinityTravel) {
  const int last = mpi_world().size() - 1;
  std::vector<float> buffer(1009, 1.0f);
  if (mpi_world().rank() == last) {
    buffer[0] = std::numeric_limits<float>::quiet_NaN();
    buffer[500] = std::numeric_limits<float>::infinity();
    buffer[1008] = -std::numeric_limits<float>::infinity();
  }
  start(buffer).wait();
  EXPECT_TRUE(std::isnan(buffer[0]));
  EXPECT_EQ(buffer[500], std::numeric_limits<float>::infinity());
  EXPECT_EQ(buffer[1008], -std::numeric_limits<float>::infinity());
  EXPECT_EQ(buffer[1], static_cast<float>(mpi_world().size()));
  EXPECT_EQ(std::ranges::count_if(buffer, [](float x) { return !std::isfinite(x); }), 3);
}

// All ranks have the same bits, which are bf16 values as close as that many roundings allow.
TEST_P(AllReduce, MessagesMayHoldBF16) {
  const int ranks = mpi_world().size();
  const auto sum = [](std::vector<float>& buffer) {
    const auto transfers =
        find_schedule(GetParam().schedule)
            .all_reduce(mpi_world().placement(), buffer.size(), GetParam().options);
    mpi_world().start_all_reduce(buffer, transfers, Wire::kBF16).wait();
  };
  for (const std::size_t count : counts()) {
    std::vector<float> buffer = normals(count, mpi_world().rank(), 7);
    std::vector<float> magnitude = buffer;
    for (float& value : magnitude) value = std::abs(value);
    const std::vector<double> expected = mpi_sum(buffer);
    const std::vector<double> bound = mpi_sum(magnitude);
    sum(buffer);
    ASSERT_TRUE(same_on_all_ranks(buffer)) << count << " elements";
    if (ranks == 1) continue;
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_NEAR(buffer[i], expected[i], ranks * std::ldexp(bound[i], -8)) << "element " << i;
      std::uint32_t bits = 0;
      std::memcpy(&bits, &buffer[i], sizeof(bits));
      ASSERT_EQ(bits & 0xffffU, 0U) << "element " << i;
    }
  }
  std::vector<float> some{mpi_world().rank() == 0 ? std::numeric_limits<float>::quiet_NaN() : 1.0F,
                          mpi_world().rank() == 0 ? std::numeric_limits<float>::infinity() : 1.0F,
                          3.0F};
  sum(some);
  EXPECT_TRUE(std::isnan(some[0]));
  EXPECT_EQ(some[1], std::numeric_limits<float>::infinity());
  EXPECT_EQ(some[2], 3.0F * static_cast<float>(ranks));
}

TEST_P(AllReduce, SeveralInFlightAreWaitedForInAnyOrder) {
  constexpr std::size_t kInFlight = 6;
  std::vector<std::vector<float>> buffers;
  std::vector<std::vector<double>> expected;
  for (std::size_t i = 0; i < kInFlight; ++i) {
    buffers.push_back(integers(3000 * i + 7, mpi_world().rank(), static_cast<std::uint32_t>(i)));
    expected.push_back(mpi_sum(buffers[i]));
  }
  std::vector<Pending> pending;
  for (auto& buffer : buffers) pending.push_back(start(buffer));
  // Each rank waits in its own order.
  std::vector<std::size_t> order(kInFlight);
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::shuffle(order, std::mt19937(static_cast<std::uint32_t>(mpi_world().rank())));
  for (const std::size_t i : order) {
    pending[i].wait();
    EXPECT_TRUE(std::ranges::equal(buffers[i], expected[i])) << "operation " << i;
  }
}

TEST_P(AllReduce, ControlCollectivesRunBesideGradients) {
  std::vector<std::vector<float>> buffers;
  std::vector<std::vector<double>> expected;
  for (std::uint32_t i = 0; i < 4; ++i) {
    buffers.push_back(integers(20'000, mpi_world().rank(), i));
    expected.push_back(mpi_sum(buffers[i]));
  }
  const int p = mpi_world().size();
  std::vector<Pending> pending;
  for (int i = 0; i < 4; ++i) {
    pending.push_back(start(buffers[static_cast<std::size_t>(i)]));
    std::vector<double> sums{1.0, static_cast<double>(mpi_world().rank())};
    mpi_world().all_reduce(sums);
    EXPECT_EQ(sums, (std::vector<double>{p * 1.0, p * (p - 1) / 2.0}));
    const int root = i % p;
    std::uint64_t word = mpi_world().rank() == root ? 1234u + static_cast<unsigned>(i) : 0;
    mpi_world().broadcast(std::as_writable_bytes(std::span(&word, 1)), root);
    EXPECT_EQ(word, 1234u + static_cast<unsigned>(i));
    mpi_world().barrier();
  }
  for (std::size_t i = 0; i < 4; ++i) {
    pending[i].wait();
    EXPECT_TRUE(std::ranges::equal(buffers[i], expected[i])) << "operation " << i;
  }
}

// A dropped ticket still keeps the buffer in use until the sum is complete.
TEST_P(AllReduce, DroppedTicketWaits) {
  std::vector<float> buffer(30'000, 1.0f);
  { const Pending dropped = start(buffer); }
  EXPECT_EQ(std::ranges::count(buffer, static_cast<float>(mpi_world().size())), 30'000);
}

INSTANTIATE_TEST_SUITE_P(All, AllReduce, testing::ValuesIn(cases()), [](const auto& info) {
  return std::string(info.param.schedule) + "_" + std::to_string(info.index);
});

TEST(Control, LaunchIsAsAsked) {
  Communicator& comm = mpi_world();
  EXPECT_GE(comm.rank(), 0);
  EXPECT_LT(comm.rank(), comm.size());
  EXPECT_EQ(comm.local_size(), comm.size()) << "these tests run on one machine";
  EXPECT_EQ(comm.local_rank(), comm.rank());
  std::vector<double> taken(static_cast<std::size_t>(comm.size()));
  taken[static_cast<std::size_t>(comm.rank())] = 1;
  comm.all_reduce(taken);
  EXPECT_EQ(std::ranges::count(taken, 1.0), comm.size()) << "each rank number once";
}

TEST(Control, TextOfRankZeroReachesAll) {
  const std::string all = "the same for all: " + std::string(5000, 'x');
  const std::string mine = mpi_world().rank() == 0 ? all : "mine";
  EXPECT_EQ(broadcast_text(mpi_world(), mine), all);
  EXPECT_EQ(broadcast_text(mpi_world(), mpi_world().rank() == 0 ? "" : "mine"), "");
}

TEST(Control, NumbersAndTextComeFromAnyRank) {
  Communicator& comm = mpi_world();
  for (int root = 0; root < comm.size(); ++root) {
    // Not representable as a double
    const std::int64_t number = (std::int64_t{1} << 53) + 1 + comm.rank();
    EXPECT_EQ(broadcast(comm, number, root), (std::int64_t{1} << 53) + 1 + root);
    const std::string text(static_cast<std::size_t>(100 * comm.rank()), 'x');
    EXPECT_EQ(broadcast(comm, text, root).size(), static_cast<std::size_t>(100 * root));
  }
}

// Returns when all ranks have come here. Control collectives may be under way.
void meet_by_data(Communicator& comm) {
  std::vector<std::size_t> offsets(static_cast<std::size_t>(comm.size()) + 1);
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = 4 * i;
  const std::vector<std::byte> out(offsets.back());
  std::vector<std::byte> in(offsets.back());
  comm.start_all_to_all(out, offsets, in, offsets, {}).wait();
}

// All ranks are on this machine and share a clock. The last one arrives after it has heard, by an
// exchange, that all others have.
TEST(StartBarrier, IsReadyWhenTheLastRankHasCome) {
  Communicator& comm = mpi_world();
  const int late = comm.size() - 1;
  Communicator::Arrival arrival;
  if (comm.rank() != late) arrival = comm.start_barrier();
  meet_by_data(comm);
  const auto came = std::chrono::steady_clock::now();
  if (comm.rank() == late) arrival = comm.start_barrier();
  const auto heard = arrival.get();
  EXPECT_GE(heard.time_since_epoch().count(),
            broadcast(comm, came.time_since_epoch().count(), late));
}

// The last rank begins its sums when all others have begun theirs.
TEST(Control, SumsThatAreStartedWaitForNoRank) {
  Communicator& comm = mpi_world();
  const int late = comm.size() - 1;
  std::vector<std::vector<double>> buffers;
  std::vector<Pending> sums;
  for (int i = 0; i < 5; ++i) buffers.push_back({1.5 * i, static_cast<double>(comm.rank())});
  const auto start_all = [&] {
    for (std::vector<double>& buffer : buffers) sums.push_back(comm.start_sum(buffer));
  };
  if (comm.rank() != late) start_all();
  meet_by_data(comm);
  if (comm.rank() == late) start_all();
  for (Pending& sum : sums) sum.wait();
  for (int i = 0; i < 5; ++i) {
    const double ranks = comm.size();
    EXPECT_EQ(buffers[static_cast<std::size_t>(i)],
              (std::vector{1.5 * i * ranks, ranks * (ranks - 1) / 2}));
  }
}

TEST(Additions, TakeTimeThatIsCounted) {
  const double before = mpi_world().adding_seconds();
  std::vector<float> buffer(1 << 20, 1.0F);
  start(mpi_world(), buffer, "ring", {}).wait();
  const double added = mpi_world().adding_seconds() - before;
  EXPECT_EQ(added > 0, mpi_world().size() > 1) << added;
}

TEST(Additions, InsideAMachineAreCountedToo) {
  if (mpi_world().local_size() == 1 || !mpi_world().can_share_memory()) return;
  std::vector<float> buffer(1 << 20, 1.0F);
  const HierarchicalParts parts = hierarchical_parts(mpi_world().placement(), buffer.size(), {});
  const double before = mpi_world().adding_seconds();
  mpi_world().start_all_reduce(buffer, parts).wait();
  EXPECT_GT(mpi_world().adding_seconds(), before);
}

TEST(Control, RowsOfAllRanksAreGathered) {
  const auto mine = static_cast<std::uint64_t>(mpi_world().rank());
  const std::uint64_t row[] = {mine, ~mine};
  const std::vector<std::uint64_t> rows = all_gather(mpi_world(), row);
  ASSERT_EQ(rows.size(), 2 * static_cast<std::size_t>(mpi_world().size()));
  for (std::size_t rank = 0; 2 * rank < rows.size(); ++rank) {
    EXPECT_EQ(rows[2 * rank], rank);
    EXPECT_EQ(rows[2 * rank + 1], ~std::uint64_t{rank});
  }
}

TEST(Control, TextsOfAllRanksAreGathered) {
  const auto text_of = [](int rank) {
    return std::string(static_cast<std::size_t>(5 * rank), 'a');
  };
  const std::vector<std::string> texts = all_gather(mpi_world(), text_of(mpi_world().rank()));
  ASSERT_EQ(texts.size(), static_cast<std::size_t>(mpi_world().size()));
  for (int rank = 0; rank < mpi_world().size(); ++rank) {
    EXPECT_EQ(texts[static_cast<std::size_t>(rank)], text_of(rank));
  }
}

TEST(Control, BroadcastFromEveryRank) {
  for (int root = 0; root < mpi_world().size(); ++root) {
    std::vector<std::byte> bytes(10'007, static_cast<std::byte>(mpi_world().rank() + 1));
    mpi_world().broadcast(bytes, root);
    EXPECT_EQ(std::ranges::count(bytes, static_cast<std::byte>(root + 1)), 10'007);
  }
}

TEST(Control, ArgumentsThatMakeNoSenseAreRefusedBeforeAnythingIsSent) {
  std::vector<std::byte> bytes(4);
  EXPECT_THROW(mpi_world().broadcast(bytes, mpi_world().size()), Error);
  EXPECT_THROW(mpi_world().broadcast(bytes, -1), Error);
  std::vector<float> buffer(10);
  const std::vector<Transfer> beyond{{Transfer::Kind::kSend, 0, 0, 0, 5, 6}};
  EXPECT_THROW(mpi_world().start_all_reduce(buffer, beyond).wait(), Error);
  mpi_world().barrier();
}

}  // namespace winnow::comm::all_reduce_test

#include "common/comm/schedule/all_to_all.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <future>
#include <numeric>
#include <random>
#include <vector>

#include "common/error.h"
#include "tests/mpi/mpi_test.h"
#include "tests/mpi/start.h"

// The expected bytes come from MPI_Ialltoallv, which Communicator::all_to_all calls.

namespace winnow::comm::all_to_all_test {

// One rank's part of an exchange whose sizes all ranks know.
struct Parts {
  std::vector<std::size_t> out_offsets{0};
  std::vector<std::size_t> in_offsets{0};
  std::vector<std::byte> out;
  std::vector<std::byte> in;
};

// Parts of up to `most` elements of 4 bytes; about one in four is empty. Some ranks send nothing at
// all. The bytes differ from rank to rank.
Parts random_parts(std::size_t most, std::uint32_t seed) {
  const auto p = static_cast<std::size_t>(mpi_world().size());
  const auto me = static_cast<std::size_t>(mpi_world().rank());
  std::mt19937 random(seed);
  std::uniform_int_distribution<std::size_t> size(0, most);
  std::vector<std::vector<std::size_t>> bytes(p, std::vector<std::size_t>(p));
  for (auto& of_rank : bytes) {
    const bool silent = random() % 5 == 0;
    for (std::size_t& part : of_rank) part = silent || random() % 4 == 0 ? 0 : 4 * size(random);
  }
  Parts parts;
  for (std::size_t peer = 0; peer < p; ++peer) {
    parts.out_offsets.push_back(parts.out_offsets.back() + bytes[me][peer]);
    parts.in_offsets.push_back(parts.in_offsets.back() + bytes[peer][me]);
  }
  std::mt19937 content(seed * 1000 + static_cast<std::uint32_t>(me));
  parts.out.resize(parts.out_offsets.back());
  for (std::byte& byte : parts.out) byte = static_cast<std::byte>(content());
  parts.in.resize(parts.in_offsets.back(), std::byte{0xAA});
  return parts;
}

Pending start(Parts& parts, std::size_t segment) {
  return mpi_world().start_all_to_all(parts.out, parts.out_offsets, parts.in, parts.in_offsets,
                                      {.segment_elements = segment});
}

std::vector<std::byte> by_mpi(const Parts& parts) {
  std::vector<std::byte> in(parts.in.size(), std::byte{0x55});
  mpi_world().all_to_all(parts.out, parts.out_offsets, in, parts.in_offsets);
  return in;
}

// The part from rank r for this rank, whose content is known without communication.
TEST(AllToAll, TheOracleItselfIsRight) {
  const auto p = static_cast<std::size_t>(mpi_world().size());
  const auto me = static_cast<std::uint32_t>(mpi_world().rank());
  std::vector<std::uint32_t> out(p), in(p);
  for (std::uint32_t r = 0; r < p; ++r) out[r] = me * 100 + r;
  std::vector<std::size_t> offsets(p + 1);
  for (std::size_t r = 0; r <= p; ++r) offsets[r] = 4 * r;
  mpi_world().all_to_all(std::as_bytes(std::span(out)), offsets,
                         std::as_writable_bytes(std::span(in)), offsets);
  for (std::uint32_t r = 0; r < p; ++r) EXPECT_EQ(in[r], r * 100 + me);
}

TEST(AllToAll, BringsWhatMpiBrings) {
  for (const std::size_t most : {0u, 3u, 100u, 5000u, 300'000u}) {
    for (std::uint32_t seed = 0; seed < 6; ++seed) {
      Parts parts = random_parts(most, seed);
      const std::vector<std::byte> expected = by_mpi(parts);
      const std::size_t tiny = most > 1000 ? 61 : 1;
      for (const std::size_t segment : {tiny, std::size_t{1000}, std::size_t{1} << 40}) {
        if (most > 100'000 && segment == tiny) continue;
        std::ranges::fill(parts.in, std::byte{0xAA});
        start(parts, segment).wait();
        EXPECT_EQ(parts.in, expected) << "up to " << most << ", segments of " << segment;
      }
    }
  }
}

TEST(AllToAll, SeveralInFlightAreWaitedForInAnyOrder) {
  std::vector<Parts> parts;
  std::vector<std::vector<std::byte>> expected;
  for (std::uint32_t i = 0; i < 5; ++i) {
    parts.push_back(random_parts(20'000, 100 + i));
    expected.push_back(by_mpi(parts.back()));
  }
  std::vector<Pending> pending;
  for (Parts& of_one : parts) pending.push_back(start(of_one, 777));
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::shuffle(order, std::mt19937(static_cast<std::uint32_t>(mpi_world().rank())));
  for (const std::size_t i : order) {
    pending[i].wait();
    EXPECT_EQ(parts[i].in, expected[i]) << "exchange " << i;
  }
}

// This thread runs all-reduces and control messages, another starts exchanges. Each class keeps its
// own order.
TEST(AllToAll, RunBesideGradientsFromAnotherThread) {
  constexpr std::uint32_t kExchanges = 30;
  constexpr int kSums = 60;
  std::vector<Parts> parts;
  std::vector<std::vector<std::byte>> expected;
  for (std::uint32_t i = 0; i < kExchanges; ++i) {
    parts.push_back(random_parts(8000, 200 + i));
    expected.push_back(by_mpi(parts.back()));
  }
  std::future<void> exchanges = std::async(std::launch::async, [&] {
    Pending last;
    for (Parts& of_one : parts)
      last = start(of_one, 250);  // at most two in flight: wait for the previous one
    last.wait();
  });
  const int ranks = mpi_world().size();
  std::vector<float> one(30'011);
  std::vector<float> other(7);
  for (int i = 0; i < kSums; ++i) {
    std::ranges::fill(one, static_cast<float>(mpi_world().rank() + i));
    std::ranges::fill(other, 1.0f);
    const ScheduleOptions options{.colors = 2, .segment_elements = 500};
    Pending first = start(mpi_world(), one, "multicolor", options);
    start(mpi_world(), other, "ring", options).wait();
    if (i % 7 == 0) mpi_world().barrier();
    first.wait();
    const auto sum = static_cast<float>(ranks * (ranks - 1) / 2 + ranks * i);
    ASSERT_EQ(std::ranges::count(one, sum), std::ssize(one)) << "sum " << i;
    ASSERT_EQ(std::ranges::count(other, static_cast<float>(ranks)), std::ssize(other));
  }
  exchanges.get();
  for (std::uint32_t i = 0; i < kExchanges; ++i) {
    EXPECT_EQ(parts[i].in, expected[i]) << "exchange " << i;
  }
}

// Rank 0 has started an all-reduce that the others start only after receiving its data.
TEST(AllToAll, GradientsThatWaitForDataDoNotHoldThemUp) {
  Parts parts = random_parts(600'000, 500);
  const std::vector<std::byte> expected = by_mpi(parts);
  std::vector<float> gradient(100'000, 1.0f);
  const auto reduce = [&] { return start(mpi_world(), gradient, "multicolor", {}); };
  Pending reduced;
  if (mpi_world().rank() == 0) reduced = reduce();
  start(parts, kExchangeOptions.segment_elements).wait();
  if (mpi_world().rank() != 0) reduced = reduce();
  reduced.wait();
  EXPECT_EQ(parts.in, expected);
  EXPECT_EQ(std::ranges::count(gradient, static_cast<float>(mpi_world().size())), 100'000);
}

// A large all-reduce nearly always ends before a small exchange that was started with it. If the
// machine delays it for long, it lets data go first.
// On a busy machine gradients may wait for a rank that does not run, and data then goes before
// them. So this tries often; if data did not wait, these 4 MiB would hardly ever come after 64.
TEST(AllToAll, GradientsGoFirst) {
  if (mpi_world().size() == 1) GTEST_SKIP() << "one rank has nothing to send";
  const auto p = static_cast<std::size_t>(mpi_world().size());
  constexpr std::size_t kPartBytes = 4 << 20;
  std::vector<std::size_t> offsets(p + 1);
  for (std::size_t r = 0; r <= p; ++r) offsets[r] = kPartBytes * r;
  const std::vector<std::byte> out(kPartBytes * p, std::byte{1});
  std::vector<std::byte> in(kPartBytes * p);
  std::vector<float> gradient(std::size_t{1} << 24, 1.0f);
  constexpr int kMostTries = 100;
  int gradients_first = 0;
  const auto all_have_seen_it = [&] {
    std::vector<double> ranks{gradients_first >= 5 ? 1.0 : 0.0};
    mpi_world().all_reduce(ranks);
    return ranks[0] == static_cast<double>(p);
  };
  for (int i = 0; i < kMostTries && !all_have_seen_it(); ++i) {
    Pending reduced = start(mpi_world(), gradient, "ring", {});
    Pending exchanged = mpi_world().start_all_to_all(out, offsets, in, offsets, kExchangeOptions);
    std::atomic<bool> arrived{false};
    std::future<void> waiting = std::async(std::launch::async, [&] {
      exchanged.wait();
      arrived = true;
    });
    reduced.wait();
    if (!arrived) ++gradients_first;
    waiting.get();
    EXPECT_EQ(in, out);
  }
  EXPECT_GE(gradients_first, 5);
}

TEST(AllToAll, DroppedTicketWaits) {
  Parts parts = random_parts(30'000, 400);
  const std::vector<std::byte> expected = by_mpi(parts);
  { const Pending dropped = start(parts, 1000); }
  EXPECT_EQ(parts.in, expected);
}

// Empty buffers have no address.
TEST(AllToAll, OfNothing) {
  const std::vector<std::size_t> offsets(static_cast<std::size_t>(mpi_world().size()) + 1);
  EXPECT_NO_THROW(mpi_world().start_all_to_all({}, offsets, {}, offsets, {}).wait());
  EXPECT_NO_THROW(mpi_world().all_to_all({}, offsets, {}, offsets));
  // The next exchange is not confused with these.
  Parts parts = random_parts(1000, 500);
  const std::vector<std::byte> expected = by_mpi(parts);
  start(parts, 100).wait();
  EXPECT_EQ(parts.in, expected);
}

TEST(AllToAll, ArgumentsThatMakeNoSenseAreRefusedBeforeAnythingIsSent) {
  const auto p = static_cast<std::size_t>(mpi_world().size());
  std::vector<std::size_t> offsets(p + 1);
  for (std::size_t r = 0; r <= p; ++r) offsets[r] = 8 * r;
  std::vector<std::byte> out(8 * p);
  std::vector<std::byte> in(8 * p);
  const auto refused = [&](std::vector<std::size_t> from, std::vector<std::size_t> into,
                           std::span<std::byte> into_bytes) {
    EXPECT_THROW(mpi_world().start_all_to_all(out, from, into_bytes, into, {}).wait(), Error);
  };
  refused({0}, offsets, in);
  refused(offsets, {}, in);
  refused(offsets, offsets, std::span(in).first(4));
  refused(offsets, offsets, out);
  std::vector<std::size_t> odd = offsets;
  odd.back() -= 2;
  refused(offsets, odd, in);
  std::vector<std::size_t> falling = offsets;
  falling[0] = falling[1] + 4;
  refused(falling, offsets, in);
  EXPECT_THROW(
      mpi_world().start_all_to_all(out, offsets, in, offsets, {.segment_elements = 0}).wait(),
      UsageError);
  mpi_world().barrier();
}

TEST(Placement, AllRanksOfThisMachineAreOnTheFirst) {
  const Placement& placement = mpi_world().placement();
  EXPECT_EQ(placement.rank, mpi_world().rank());
  EXPECT_EQ(placement.node_of, std::vector<int>(static_cast<std::size_t>(mpi_world().size())));
}

}  // namespace winnow::comm::all_to_all_test

#include "common/comm/schedule/some_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "tests/mpi/mpi_test.h"

// All-reduces of some ranks, the others with nothing to do. Every rank can tell the sums.

namespace winnow::comm::some_ranks_test {

constexpr ScheduleOptions kOptions{.colors = 2, .segment_elements = 100};
constexpr std::size_t kCount = 1009;

std::int32_t number(std::size_t i, int rank, int which) {
  return static_cast<std::int32_t>(i * 31 + 17) * (rank + 1) + which;
}

struct Sum {
  std::vector<int> ranks;  // the participants
  std::vector<std::int32_t> buffer{};
  std::vector<Transfer> transfers{};
};

// Each set of ranks, in this order on all of them.
std::vector<std::vector<int>> sets_of_ranks() {
  std::vector<std::vector<int>> sets;
  const int size = mpi_world().size();
  for (unsigned bits = 1; bits < 1U << static_cast<unsigned>(size); ++bits) {
    std::vector<int>& set = sets.emplace_back();
    for (int rank = 0; rank < size; ++rank) {
      if ((bits >> static_cast<unsigned>(rank) & 1U) != 0) set.push_back(rank);
    }
  }
  return sets;
}

Sum sum_of(const std::vector<int>& ranks, const Schedule& schedule, int which) {
  Sum sum{.ranks = ranks};
  for (std::size_t i = 0; i < kCount; ++i) {
    sum.buffer.push_back(number(i, mpi_world().rank(), which));
  }
  sum.transfers = among(mpi_world().placement(), ranks, [&](const Placement& those) {
    return schedule.all_reduce(those, kCount, kOptions);
  });
  return sum;
}

void expect_done(const Sum& sum, int which) {
  const bool takes_part = std::ranges::count(sum.ranks, mpi_world().rank()) > 0;
  const std::vector<int> of = takes_part ? sum.ranks : std::vector{mpi_world().rank()};
  for (std::size_t i = 0; i < kCount; ++i) {
    std::int32_t expected = 0;
    for (const int rank : of) expected += number(i, rank, which);
    ASSERT_EQ(sum.buffer[i], expected) << "element " << i << " of sum " << which;
  }
}

// All under way at once.
TEST(SomeRanks, AddUpAndTheOthersKeepTheirs) {
  for (const Schedule& schedule : schedules()) {
    std::deque<Sum> sums;
    std::vector<Pending> pending;
    for (int turn = 0; turn < 3; ++turn) {
      for (const std::vector<int>& ranks : sets_of_ranks()) {
        sums.push_back(sum_of(ranks, schedule, static_cast<int>(sums.size())));
        pending.push_back(mpi_world().start_all_reduce(sums.back().buffer, Reduction::kSum,
                                                       sums.back().transfers));
      }
    }
    for (Pending& one : pending) one.wait();
    for (std::size_t s = 0; s < sums.size(); ++s) expect_done(sums[s], static_cast<int>(s));
  }
}

// Ranks that a number is of call alone, in an order of their own.
TEST(SomeRanks, AddUpWithoutACallOfTheOthers) {
  const Schedule& schedule = find_schedule("multicolor");
  std::deque<Sum> sums;
  std::vector<Pending> pending;
  for (int turn = 0; turn < 3; ++turn) {
    std::uint32_t group = 0;
    for (const std::vector<int>& ranks : sets_of_ranks()) {
      ++group;
      sums.push_back(sum_of(ranks, schedule, static_cast<int>(sums.size())));
      if (std::ranges::count(ranks, mpi_world().rank()) == 0) continue;
      pending.push_back(
          mpi_world().start({.buffer = sums.back().buffer, .group = group}, sums.back().transfers));
    }
  }
  for (Pending& one : pending) one.wait();
  for (std::size_t s = 0; s < sums.size(); ++s) expect_done(sums[s], static_cast<int>(s));
}

// The least that ranks can do together, a message; all other ranks have empty buffers.
TEST(SomeRanks, OneHandsItsNumbersToAnother) {
  const int size = mpi_world().size();
  const int me = mpi_world().rank();
  for (int from = 0; from < size; ++from) {
    const int to = (from + 1) % size;
    std::vector<float> buffer;
    std::vector<Transfer> transfers;
    if (from != to && (me == from || me == to)) {
      buffer.assign(kCount, static_cast<float>(me));
      const bool sends = me == from;
      transfers = {{sends ? Transfer::Kind::kSend : Transfer::Kind::kReceiveCopy, sends ? to : from,
                    0, 0, 0, kCount}};
    }
    mpi_world().start_all_reduce(buffer, transfers).wait();
    const auto held = static_cast<float>(me == to ? from : me);
    EXPECT_EQ(std::ranges::count(buffer, held), std::ssize(buffer));
  }
}

}  // namespace winnow::comm::some_ranks_test

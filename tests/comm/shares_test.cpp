// Reduce-scatters and all-gathers by shares: how the buffer is divided, and each schedule with the
// symbolic checker.
#include "common/comm/schedule/shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "common/error.h"
#include "tests/comm/check/check.h"
#include "tests/comm/vector_executor.h"

namespace winnow::comm::shares_test {

using Lists = std::vector<std::vector<Transfer>>;

Lists of_all(auto generator, int ranks, std::size_t count, const ScheduleOptions& options) {
  Lists out;
  for (int rank = 0; rank < ranks; ++rank) {
    out.push_back(generator(one_machine(rank, ranks), count, options));
  }
  return out;
}

void expect_sound(const ShareSchedule& schedule, int ranks, std::size_t count,
                  const ScheduleOptions& options) {
  const Lists scatter = of_all(schedule.reduce_scatter, ranks, count, options);
  const Lists gather = of_all(schedule.all_gather, ranks, count, options);
  ASSERT_EQ(check_reduce_scatter(scatter, count), "")
      << schedule.name << ", " << ranks << " ranks, " << count << " elements";
  ASSERT_EQ(check_all_gather(gather, count), "")
      << schedule.name << ", " << ranks << " ranks, " << count << " elements";
  for (const Lists& lists : {scatter, gather}) {
    for (const auto& transfers : lists) {
      ASSERT_EQ(transfers.empty(), ranks == 1 || count == 0);
      for (const Transfer& transfer : transfers) {
        ASSERT_LE(transfer.count, options.segment_elements);
        ASSERT_GT(transfer.count, 0u);
      }
      if (transfers.empty()) continue;
      ASSERT_EQ(transfers.back().chain, lists[0].back().chain);
    }
  }
}

TEST(Shares, FollowEachOtherAndAreAsEqualAsCanBe) {
  for (int ranks = 1; ranks <= 40; ++ranks) {
    for (const std::size_t count : {0UL, 1UL, 7UL, 39UL, 40UL, 1009UL}) {
      std::size_t end = 0;
      std::size_t least = count;
      std::size_t most = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const Share share = share_of(rank, ranks, count);
        EXPECT_EQ(share.begin, end);
        end += share.count;
        least = std::min(least, share.count);
        most = std::max(most, share.count);
      }
      EXPECT_EQ(end, count);
      EXPECT_LE(most - least, 1u);
      EXPECT_EQ(share_of(0, ranks, count).count, most);
    }
  }
}

TEST(ShareSchedules, AreSound) {
  for (const ShareSchedule& schedule : share_schedules()) {
    for (int ranks = 1; ranks <= 40; ++ranks) {
      for (const std::size_t count : {0UL, 1UL, 5UL, 31UL, 32UL, 33UL, 211UL}) {
        for (const std::size_t segment : {1UL, 3UL, 1000UL}) {
          expect_sound(schedule, ranks, count, {.segment_elements = segment});
        }
      }
    }
  }
}

// A ring of p ranks has p (p-1) messages per chain, as many as there are pairs.
TEST(ShareSchedules, AreSoundTo512Ranks) {
  for (const ShareSchedule& schedule : share_schedules()) {
    for (int ranks = 41; ranks <= 512; ranks += ranks < 130 ? 8 : 47) {
      expect_sound(schedule, ranks, 600, {.segment_elements = 1});
    }
    expect_sound(schedule, 512, 512, {});
  }
}

// (p-1)/p of the buffer each way in each half, which is the minimum.
TEST(ShareSchedules, TrafficIsTheBound) {
  for (const ShareSchedule& schedule : share_schedules()) {
    for (const int ranks : {2, 3, 5, 8, 12}) {
      const std::size_t count = 60 * static_cast<std::size_t>(ranks);
      const std::size_t bound = count - 60;
      for (const Traffic& rank : traffic(of_all(schedule.reduce_scatter, ranks, count, {}))) {
        EXPECT_EQ(rank.sent, bound);
        EXPECT_EQ(rank.received, bound);
        EXPECT_EQ(rank.added, bound);
      }
      for (const Traffic& rank : traffic(of_all(schedule.all_gather, ranks, count, {}))) {
        EXPECT_EQ(rank.sent, bound);
        EXPECT_EQ(rank.added, 0u);
      }
    }
  }
}

// The checks detect each kind of damage.
TEST(ShareChecks, SeeWhatIsMissing) {
  for (const ShareSchedule& schedule : share_schedules()) {
    Lists scatter = of_all(schedule.reduce_scatter, 4, 40, {});
    EXPECT_NE(check_all_reduce(scatter, 40), "") << "a half is no all-reduce";
    for (auto& transfer : scatter[1]) {
      if (transfer.kind == Transfer::Kind::kReceiveAdd)
        transfer.kind = Transfer::Kind::kReceiveCopy;
    }
    EXPECT_NE(check_reduce_scatter(scatter, 40), "");
    Lists gather = of_all(schedule.all_gather, 4, 40, {});
    for (auto& transfer : gather[2]) {
      if (transfer.kind == Transfer::Kind::kReceiveCopy)
        transfer.kind = Transfer::Kind::kReceiveAdd;
    }
    EXPECT_NE(check_all_gather(gather, 40), "");
    EXPECT_NE(check_all_gather(of_all(schedule.reduce_scatter, 4, 40, {}), 40), "");
    EXPECT_NE(check_all_gather({{}, {}}, 10), "");
    EXPECT_NE(check_reduce_scatter({{}, {}}, 10), "");
  }
}

TEST(ShareSchedules, RefuseWhatNoScheduleTakes) {
  for (const ShareSchedule& schedule : share_schedules()) {
    EXPECT_THROW(schedule.reduce_scatter(one_machine(4, 4), 10, {}), Error);
    EXPECT_THROW(schedule.all_gather(one_machine(0, 4), 10, {.segment_elements = 0}), UsageError);
  }
}

}  // namespace winnow::comm::shares_test

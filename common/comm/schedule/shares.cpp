#include "common/comm/schedule/shares.h"

#include <algorithm>
#include <array>

#include "common/comm/schedule/arguments.h"
#include "common/comm/schedule/direct_shares.h"
#include "common/comm/schedule/ring_shares.h"

namespace winnow::comm {

namespace {

constexpr std::array kShareSchedules{
    ShareSchedule{"ring", "parts go round a ring; few messages at a time, p-1 hops",
                  &ring_reduce_scatter, &ring_all_gather},
    ShareSchedule{"direct", "each rank sends to each other one; a hop, for small buffers",
                  &direct_reduce_scatter, &direct_all_gather},
};

}  // namespace

Share share_of(int rank, int ranks, std::size_t count) noexcept {
  const auto at = static_cast<std::size_t>(rank);
  const auto p = static_cast<std::size_t>(ranks);
  const std::size_t longer = count % p;
  return {at * (count / p) + std::min(at, longer), count / p + (at < longer ? 1 : 0)};
}

std::span<const ShareSchedule> share_schedules() { return kShareSchedules; }

ShareChains::ShareChains(const Placement& placement, std::size_t count,
                         const ScheduleOptions& options)
    : ranks_(placement.ranks()), count_(count) {
  check_arguments(placement.rank, ranks_, options);
  if (ranks_ == 1 || count == 0) return;
  const std::size_t longest = share_of(0, ranks_, count).count;
  const int most = checked_chains(divide_up(longest, options.segment_elements));
  span_ = divide_up(longest, static_cast<std::size_t>(most));
  chains_ = static_cast<int>(divide_up(longest, span_));
}

Share ShareChains::part(int rank, int chain) const noexcept {
  const Share share = share_of((rank % ranks_ + ranks_) % ranks_, ranks_, count_);
  const std::size_t begin = std::min(static_cast<std::size_t>(chain) * span_, share.count);
  return {share.begin + begin, std::min(span_, share.count - begin)};
}

}  // namespace winnow::comm

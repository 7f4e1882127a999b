#include "train/trace/clock_offset.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "train/step/trace_recorder.h"

namespace winnow::train {
namespace {

constexpr std::size_t kMeetings = 64;  // the quickest of them counts

}  // namespace

ClockOffset offset_of(std::span<const Meeting> of_root, std::span<const Meeting> of_rank) {
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < of_root.size(); ++i) {
    least = std::max(least, of_rank[i].came - of_root[i].left);
    most = std::min(most, of_rank[i].left - of_root[i].came);
  }
  const std::int64_t width = std::abs(most - least);  // the bounds cross if a clock ran unevenly
  return {.ns = std::min(least, most) + width / 2, .error_ns = (width + 1) / 2};
}

Clocks compare_clocks(comm::Communicator& comm) {
  std::vector<std::uint64_t> row;
  for (std::size_t i = 0; i < kMeetings; ++i) {
    row.push_back(static_cast<std::uint64_t>(TraceRecorder::now_ns()));
    comm.barrier();
    row.push_back(static_cast<std::uint64_t>(TraceRecorder::now_ns()));
  }
  const std::vector<std::uint64_t> rows = comm::all_gather(comm, row);
  const auto meetings_of = [&](int rank) {
    std::vector<Meeting> meetings;
    const auto first = static_cast<std::size_t>(rank) * row.size();
    for (std::size_t i = first; i < first + row.size(); i += 2) {
      meetings.push_back(
          {static_cast<std::int64_t>(rows[i]), static_cast<std::int64_t>(rows[i + 1])});
    }
    return meetings;
  };
  const std::vector<Meeting> of_root = meetings_of(0);
  Clocks clocks{.here_ns = meetings_of(comm.rank()).back().left, .root_ns = of_root.back().left};
  clocks.offsets.emplace_back();  // rank 0 itself
  for (int rank = 1; rank < comm.size(); ++rank) {
    clocks.offsets.push_back(offset_of(of_root, meetings_of(rank)));
  }
  return clocks;
}

std::int64_t ClockLine::of_root(std::int64_t ns) const noexcept {
  if (end_ns <= begin_ns) return ns - begin_offset_ns;
  const double share = static_cast<double>(ns - begin_ns) / static_cast<double>(end_ns - begin_ns);
  const double grown = share * static_cast<double>(end_offset_ns - begin_offset_ns);
  return ns - begin_offset_ns - std::llround(grown);
}

}  // namespace winnow::train

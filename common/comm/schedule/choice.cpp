#include "common/comm/schedule/choice.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "common/comm/schedule/hierarchical.h"

namespace winnow::comm {

namespace {

constexpr int kColors[] = {2, 4, 8};
constexpr std::size_t kLeastSegment = 8'192;
constexpr std::size_t kSegmentSteps = 4;      // factor from one size to the next
constexpr std::size_t kMostSegments = 1'024;  // more would make the simulation too slow

// Segment sizes to try, ascending, in elements.
std::vector<std::size_t> segments_for(const AllReduceShape& shape, const NetworkModel& network) {
  std::vector<std::size_t> all{kLeastSegment};
  while (all.back() < shape.count) {
    const std::size_t next = all.back() * kSegmentSteps;
    const bool is_message =
        network.longest_message == 0 || next * shape.element_bytes <= network.longest_message;
    if (!is_message) break;
    all.push_back(next);
  }
  std::erase_if(all, [&](std::size_t segment) {
    return segment != all.back() && shape.count / segment > kMostSegments;
  });
  return all;
}

std::vector<std::vector<Transfer>> transfers_of_all(const Schedule& schedule,
                                                    const ScheduleOptions& options,
                                                    const AllReduceShape& shape) {
  Placement placement{0, {shape.node_of.begin(), shape.node_of.end()}};
  std::vector<std::vector<Transfer>> all;
  for (; placement.rank < placement.ranks(); ++placement.rank) {
    all.push_back(schedule.all_reduce(placement, shape.count, options));
  }
  return all;
}

double seconds_of(std::span<const std::vector<Transfer>> transfers, const AllReduceShape& shape,
                  NetworkModel network) {
  network.add_seconds_per_byte *=
      static_cast<double>(sizeof(float)) / static_cast<double>(shape.element_bytes);
  return predicted_seconds(transfers, shape.node_of, shape.element_bytes, network);
}

}  // namespace

double predicted_seconds(const Schedule& schedule, const ScheduleOptions& options,
                         const AllReduceShape& shape, const NetworkModel& network) {
  return seconds_of(transfers_of_all(schedule, options, shape), shape, network);
}

std::string_view schedule_inside(bool over_shared_memory) noexcept {
  return over_shared_memory ? kHierarchicalSchedule : "multicolor";
}

ScheduleChoice choose_schedule(const AllReduceShape& shape, const NetworkModel& network,
                               std::string_view without) {
  ScheduleChoice best;
  const std::vector<std::size_t> segments = segments_for(shape, network);
  for (const Schedule& schedule : schedules()) {
    if (schedule.name == without) continue;
    std::vector<std::vector<std::vector<Transfer>>> tried;
    for (const std::size_t segment : segments) {
      for (const int colors : kColors) {
        const ScheduleOptions options{.colors = colors, .segment_elements = segment};
        auto transfers = transfers_of_all(schedule, options, shape);
        // Not every schedule uses every option.
        if (std::ranges::find(tried, transfers) != tried.end()) continue;
        const double seconds = seconds_of(transfers, shape, network);
        tried.push_back(std::move(transfers));
        if (best.schedule == nullptr || seconds < best.seconds) {
          best = {&schedule, options, seconds};
        }
      }
    }
  }
  return best;
}

double least_seconds(const AllReduceShape& shape, const NetworkModel& network) {
  const auto machines = static_cast<std::size_t>(std::ranges::max(shape.node_of) + 1);
  const bool apart = machines > 1;
  const std::size_t n = apart ? machines : shape.node_of.size();
  const LinkCost& link = apart ? network.between : network.inside;
  const int cards = apart ? std::max(1, network.cards) : 1;
  const auto bytes = static_cast<double>(shape.count * shape.element_bytes);
  const double share = 2.0 * static_cast<double>(n - 1) / static_cast<double>(n);
  return link.latency_s + share * bytes * link.seconds_per_byte / cards;
}

}  // namespace winnow::comm

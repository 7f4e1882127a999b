#include "common/comm/schedule/hierarchical.h"

#include <algorithm>
#include <iterator>

#include "common/comm/schedule/arguments.h"
#include "common/comm/schedule/multicolor.h"
#include "common/comm/schedule/some_ranks.h"

namespace winnow::comm {

namespace {

constexpr std::size_t kShareGrain = 16;  // in elements: shares begin at cache lines

using Machines = std::vector<std::vector<int>>;  // [m]: the ranks of machine m, ascending

Machines machines_of(const Placement& placement) {
  Machines machines;
  for (int rank = 0; rank < placement.ranks(); ++rank) {
    const auto machine =
        static_cast<std::size_t>(placement.node_of[static_cast<std::size_t>(rank)]);
    if (machine >= machines.size()) machines.resize(machine + 1);
    machines[machine].push_back(rank);
  }
  return machines;
}

// The rank of a machine that is responsible for `share` (its head).
int head_of(const std::vector<int>& ranks, std::size_t share) {
  return ranks[share % ranks.size()];
}

// The position of `machine`'s head in the tree of a colour over the heads of all machines.
TreePlace place_between(int machine, const Machines& machines, int color, std::size_t share,
                        const ScheduleOptions& options) {
  const auto head = [&](int m) { return head_of(machines[static_cast<std::size_t>(m)], share); };
  TreePlace place = multicolor_place(machine, static_cast<int>(machines.size()), color, options);
  if (place.parent >= 0) place.parent = head(place.parent);
  std::ranges::transform(place.children, place.children.begin(), head);
  return place;
}

// The machine's other ranks are leaves below its head; their sums are added before those of other
// machines.
TreePlace place_of(int rank, int machine, const Machines& machines, int color, std::size_t share,
                   const ScheduleOptions& options) {
  const std::vector<int>& ranks = machines[static_cast<std::size_t>(machine)];
  const int head = head_of(ranks, share);
  if (rank != head) return {.parent = head, .children = {}};
  TreePlace place = place_between(machine, machines, color, share, options);
  std::vector<int> locals;
  std::ranges::copy_if(ranks, std::back_inserter(locals), [&](int local) { return local != head; });
  place.children.insert(place.children.begin(), locals.begin(), locals.end());
  return place;
}

int colors_between(const Machines& machines, const ScheduleOptions& options) {
  return std::min(options.colors, static_cast<int>(machines.size()));
}

}  // namespace

std::vector<Transfer> hierarchical_all_reduce(const Placement& placement, std::size_t count,
                                              const ScheduleOptions& options) {
  check_arguments(placement.rank, placement.ranks(), options);
  if (placement.ranks() == 1 || count == 0) return {};
  const Machines machines = machines_of(placement);
  const int machine = placement.node_of[static_cast<std::size_t>(placement.rank)];
  const std::size_t shares = std::ranges::max(machines, {}, &std::vector<int>::size).size();

  std::vector<TreePlace> places;
  for (int color = 0; color < colors_between(machines, options); ++color) {
    for (std::size_t share = 0; share < shares; ++share) {
      places.push_back(place_of(placement.rank, machine, machines, color, share, options));
    }
  }
  return tree_all_reduce(places, count, options.segment_elements);
}

HierarchicalParts hierarchical_parts(const Placement& placement, std::size_t count,
                                     const ScheduleOptions& options) {
  check_arguments(placement.rank, placement.ranks(), options);
  const Machines machines = machines_of(placement);
  const int machine = placement.node_of[static_cast<std::size_t>(placement.rank)];
  const std::vector<int>& ranks = machines[static_cast<std::size_t>(machine)];
  const std::size_t shares = std::ranges::min(machines, {}, &std::vector<int>::size).size();
  const std::size_t share = divide_up(divide_up(count, shares), kShareGrain) * kShareGrain;

  HierarchicalParts parts;
  for (std::size_t local = 0; local < ranks.size(); ++local) {
    parts.shares.push_back(std::min(local * share, count));
  }
  parts.shares.push_back(count);
  const auto me =
      static_cast<std::size_t>(std::ranges::find(ranks, placement.rank) - ranks.begin());
  const std::size_t mine = parts.shares[me + 1] - parts.shares[me];
  std::vector<int> heads;
  for (const std::vector<int>& those : machines) heads.push_back(head_of(those, me));
  parts.between = among(placement, heads, [&](const Placement& between) {
    return multicolor_all_reduce(between, mine, options);
  });
  return parts;
}

}  // namespace winnow::comm

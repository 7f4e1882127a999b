#include "common/comm/schedule/hierarchical.h"

#include <algorithm>

#include "common/comm/schedule/arguments.h"
#include "common/comm/schedule/multicolor.h"

namespace winnow::comm {

namespace {

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

// Where `rank` is in a tree over the machines whose nodes are one rank of each, the head. The
// machine's other ranks are leaves below it; their sums are added before those of other machines.
TreePlace place_of(int rank, int machine, const Machines& machines, int color, std::size_t share,
                   const ScheduleOptions& options) {
  const auto head_of = [&](int m) {
    const std::vector<int>& ranks = machines[static_cast<std::size_t>(m)];
    return ranks[share % ranks.size()];
  };
  const int head = head_of(machine);
  if (rank != head) return {.parent = head, .children = {}};
  const TreePlace of_machine =
      multicolor_place(machine, static_cast<int>(machines.size()), color, options);
  TreePlace place{of_machine.parent < 0 ? -1 : head_of(of_machine.parent), {}};
  for (const int local : machines[static_cast<std::size_t>(machine)]) {
    if (local != head) place.children.push_back(local);
  }
  for (const int child : of_machine.children) place.children.push_back(head_of(child));
  return place;
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
  for (int color = 0; color < std::min(options.colors, static_cast<int>(machines.size()));
       ++color) {
    for (std::size_t share = 0; share < shares; ++share) {
      places.push_back(place_of(placement.rank, machine, machines, color, share, options));
    }
  }
  return tree_all_reduce(places, count, options.segment_elements);
}

}  // namespace winnow::comm

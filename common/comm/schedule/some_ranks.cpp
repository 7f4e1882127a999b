#include "common/comm/schedule/some_ranks.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "common/error.h"

namespace winnow::comm {

namespace {

void check_ranks(const Placement& placement, std::span<const int> ranks) {
  for (const int rank : ranks) {
    if (rank < 0 || rank >= placement.ranks() || std::ranges::count(ranks, rank) > 1) {
      throw Error("a collective among some of " + std::to_string(placement.ranks()) +
                  " ranks names rank " + std::to_string(rank) + "; name existing ranks, each once");
    }
  }
}

// Machines are numbered from 0 in the order in which `ranks` meet them.
std::vector<int> machines_of(const Placement& placement, std::span<const int> ranks) {
  std::vector<int> met;
  std::vector<int> node_of;
  for (const int rank : ranks) {
    const int machine = placement.node_of[static_cast<std::size_t>(rank)];
    const auto at = std::ranges::find(met, machine);
    node_of.push_back(static_cast<int>(at - met.begin()));
    if (at == met.end()) met.push_back(machine);
  }
  return node_of;
}

}  // namespace

std::vector<Transfer> among(const Placement& placement, std::span<const int> ranks,
                            const PlanTransfers& plan) {
  check_ranks(placement, ranks);
  const auto me = std::ranges::find(ranks, placement.rank);
  if (me == ranks.end()) return {};
  std::vector<Transfer> transfers =
      plan({static_cast<int>(me - ranks.begin()), machines_of(placement, ranks)});
  for (Transfer& transfer : transfers) {
    transfer.peer = ranks[static_cast<std::size_t>(transfer.peer)];
  }
  return transfers;
}

}  // namespace winnow::comm

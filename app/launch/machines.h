#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/launch/rank_place.h"
#include "common/comm/mpi/launcher.h"

namespace winnow::app {

// Which cores the ranks of a machine may run on.
enum class Binding : std::uint8_t {
  kNone,    // all on the same cores
  kApart,   // each on its own
  kShared,  // some share cores, others do not
};
const char* to_string(Binding binding) noexcept;

// One machine of a job.
struct Machine {
  RankPlace place;         // place of its lowest rank
  std::vector<int> ranks;  // ranks, ascending
  int cores = 0;           // union of its ranks' cores
  int cores_each = 0;      // cores of the rank with fewest
  Binding binding = Binding::kNone;
};

// The machines of a job in the order of their lowest ranks. Pure.
//
// In  places: of each rank; node_of: the machine of each rank, numbered as in a Placement
std::vector<Machine> machines_of(std::span<const RankPlace> places, std::span<const int> node_of);

// "h1: ranks 0-1 on 2 of 64 cores, each bound to 1; 240 GiB of 251 GiB memory free; ..."
std::string in_words(const Machine& machine);

// A warning if ranks may use less than half of the cores that their launcher could have given them,
// with the flag to type; empty if there is none.
//
// In  threads: number that each rank was asked to use; 0: as many as it may
std::string idle_warning(std::span<const Machine> machines, comm::Launcher launcher, int threads);

}  // namespace winnow::app

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
  kNone,    // all the same
  kApart,   // each on others
  kShared,  // some have a core in common, others not
};
const char* to_string(Binding binding) noexcept;

// One machine of a job.
struct Machine {
  RankPlace place;         // of its lowest rank
  std::vector<int> ranks;  // ascending
  int cores = 0;           // that its ranks may run on, all together
  int cores_each = 0;      // of the rank that has fewest
  Binding binding = Binding::kNone;
};

// Pure: the machines of a job in the order of their lowest ranks.
//
// In  places: of each rank; node_of: the machine of each rank, as a Placement numbers them
std::vector<Machine> machines_of(std::span<const RankPlace> places, std::span<const int> node_of);

// "h1: ranks 0-1 on 2 of 64 cores, each bound to 1; 240 GiB of 251 GiB memory free; ..."
std::string in_words(const Machine& machine);

// A warning where ranks may use less than half of the cores that their launcher could have given
// them, with the flag to type; empty where there is none.
//
// In  threads: that each rank was asked to use; 0: as many as it may
std::string idle_warning(std::span<const Machine> machines, comm::Launcher launcher, int threads);

}  // namespace winnow::app

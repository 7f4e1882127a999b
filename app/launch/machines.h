#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/launch/rank_place.h"
#include "common/comm/mpi/launcher.h"

namespace winnow::app {

// How the launcher bound the ranks of a machine to cores.
enum class Binding : std::uint8_t {
  kNone,    // all ranks may run on the same cores
  kApart,   // each rank has cores of its own
  kShared,  // some ranks share cores, others do not
};
const char* to_string(Binding binding) noexcept;

// One machine of a job, with its ranks.
struct Machine {
  RankPlace place;         // place of the machine's lowest rank
  std::vector<int> ranks;  // numbers of the ranks, ascending
  int cores = 0;           // number of cores that its ranks have together
  int cores_each = 0;      // cores of the rank that has fewest
  Binding binding = Binding::kNone;
};

// The machines of a job, in the order of their lowest ranks. Pure.
//
// places   place of each rank
// node_of  number of each rank's machine, as in a Placement
std::vector<Machine> machines_of(std::span<const RankPlace> places, std::span<const int> node_of);

// A machine in words: "h1: ranks 0-1 on 2 of 64 cores, each bound to 1; 240 GiB of 251 GiB memory
// free; ..."
std::string in_words(const Machine& machine);

// A warning if ranks may use less than half of the cores that their launcher could give them, with
// the option to add; else empty.
//
// threads  number of threads each rank was asked to use; 0: as many as it may
std::string idle_warning(std::span<const Machine> machines, comm::Launcher launcher, int threads);

}  // namespace winnow::app

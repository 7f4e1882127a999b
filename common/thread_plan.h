#pragma once

#include <cstdint>
#include <string>

namespace winnow {

// The resources of a process, and their division between roles.
struct ThreadPlan {
  int cores = 1;    // this process's share of the machine
  int compute = 1;  // threads of the training lane
  int decode = 1;   // TBB workers for decoding, hashing and augmentation

  // The thread that communicates with other ranks: it has a core of its own, shares one with
  // computing threads, or does not exist (one rank).
  enum class Communication : std::uint8_t { kNone, kShares, kOwnCore };
  Communication communication = Communication::kNone;
};

struct ThreadPlanInputs {
  int affinity_cores = 1;  // cores this process may run on
  double quota_cores = 0;  // control group's CPU quota in cores; 0: none
  int ranks = 1;           // processes of the job
  int local_ranks = 1;     // processes of the job on this machine
  double own_cores = 0;    // this process's share of these cores; 0: an equal part
  int requested = 0;       // --threads; 0: not given
};

// Divides the cores. Pure.
//
// Cores          The process's share of those it may run on, limited by its part of the quota; at
//                least one. `requested` overrides this.
// Communication  With several ranks and 8 or more cores, a core is reserved for it. With fewer, or
//                if the number was requested, it shares one, which uses them better.
ThreadPlan plan_threads(const ThreadPlanInputs& inputs);

// Detects the resources of this process (common/cores.h), one of `local_ranks` on this machine and
// of `ranks` in all. The cores of the others are guessed from their launcher; a caller that can ask
// the others sets own_cores.
ThreadPlanInputs detect_threads(int ranks, int local_ranks);

// "2 cores: 2 compute, 2 decode"; with several ranks also ", 1 communication" or ", communication
// shares".
std::string to_string(const ThreadPlan& plan);

}  // namespace winnow

#pragma once

#include <cstdint>
#include <string>

namespace winnow {

// How many cores a process has, and how many threads of each role it uses.
struct ThreadPlan {
  int cores = 1;    // this process's share of the machine's cores
  int compute = 1;  // threads that compute the training
  int decode = 1;   // TBB threads for decoding, hashing and augmentation

  // Where the thread that communicates with other ranks runs: on a core of its own, on one shared
  // with computing threads, or nowhere (one rank).
  enum class Communication : std::uint8_t { kNone, kShares, kOwnCore };
  Communication communication = Communication::kNone;
};

struct ThreadPlanInputs {
  int affinity_cores = 1;  // number of cores that this process may run on
  double quota_cores = 0;  // CPU quota of the process's control group, in cores; 0: none
  int ranks = 1;           // processes of the job
  int local_ranks = 1;     // processes of the job on this machine
  double own_cores = 0;    // this process's share of affinity_cores; 0: an equal part
  int requested = 0;       // --threads; 0: not given
};

// Divides the cores of a process between its roles. Pure.
//
// Cores          The process's share of those it may run on, limited by its part of the quota; at
//                least one. `requested` overrides this.
// Communication  With several ranks and 8 or more cores, a core is reserved for it. With fewer, or
//                if the number was requested, it shares one with computing threads, which uses
//                cores better.
ThreadPlan plan_threads(const ThreadPlanInputs& inputs);

// Detects the cores of this process (common/cores.h), one of `local_ranks` on this machine and of
// `ranks` in all. The cores of the others are guessed from their launcher. A caller that can ask
// the others sets own_cores.
ThreadPlanInputs detect_threads(int ranks, int local_ranks);

// The plan in words: "2 cores: 2 compute, 2 decode"; with several ranks also ", 1 communication" or
// ", communication shares".
std::string to_string(const ThreadPlan& plan);

}  // namespace winnow

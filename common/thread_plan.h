#pragma once

#include <string>

namespace winnow {

// What a process may use, and how it divides that between its roles.
struct ThreadPlan {
  int cores = 1;    // this process's share of the machine
  int compute = 1;  // threads of the training lane
  int decode = 1;   // TBB workers that decode, hash and augment
};

struct ThreadPlanInputs {
  int affinity_cores = 1;  // cores this process may run on
  double quota_cores = 0;  // cgroup CPU quota in cores; 0: none
  int local_ranks = 1;     // processes of the same job on this machine
  bool bound = false;      // the launcher gave every rank cores of its own
  int requested = 0;       // --threads; 0: not given
};

// Pure. Cores are min(affinity, quota), divided by the local ranks unless they are bound already,
// at least one; `requested` overrides the result.
ThreadPlan plan_threads(const ThreadPlanInputs& inputs);

// Reads affinity and cgroup of this process, one of `local_ranks` on this machine. They count as
// bound when the machine has enough cores for each to have as many of its own as this one may use.
ThreadPlanInputs detect_threads(int local_ranks);

std::string to_string(const ThreadPlan& plan);  // "2 cores: 2 compute, 2 decode"

}  // namespace winnow

#pragma once

#include <cstdint>
#include <string>

namespace winnow {

// What a process may use, and how it divides that between its roles.
struct ThreadPlan {
  int cores = 1;    // this process's share of the machine
  int compute = 1;  // threads of the training lane
  int decode = 1;   // TBB workers that decode, hash and augment

  // Of the thread that moves messages between ranks: a core of its own, one that it shares with the
  // threads that compute, or none where there is one rank.
  enum class Communication : std::uint8_t { kNone, kShares, kOwnCore };
  Communication communication = Communication::kNone;
};

struct ThreadPlanInputs {
  int affinity_cores = 1;  // cores this process may run on
  double quota_cores = 0;  // cgroup CPU quota in cores; 0: none
  int ranks = 1;           // processes of the job
  int local_ranks = 1;     // those on this machine
  double own_cores = 0;    // of those, the share of this process; 0: an even part
  int requested = 0;       // --threads; 0: not given
};

// Pure.
//
// Cores          its share of those it may run on, at most its part of the quota; at least one.
//                `requested` overrides that
// Communication  with several ranks: of 8 cores or more compute leaves one to it; of fewer, or of
//                those that were requested, it shares one, since they are better used so
ThreadPlan plan_threads(const ThreadPlanInputs& inputs);

// Looks at what this process may use (common/cores.h), one of `local_ranks` on this machine and of
// `ranks` in all. What the others may run on is guessed by their launcher: who can ask them sets
// own_cores by that.
ThreadPlanInputs detect_threads(int ranks, int local_ranks);

// "2 cores: 2 compute, 2 decode", with several ranks also ", 1 communication" or ", communication
// shares".
std::string to_string(const ThreadPlan& plan);

}  // namespace winnow

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/health/status.h"

namespace winnow::health {

// Knowledge of this rank (the observer) about a rank, perhaps about itself.
struct Seen {
  Status last;                   // last received status
  bool heard = false;            // whether any was received
  double silent_s = 0;           // seconds since then
  double idle_s = 0;             // seconds since the rank last progressed, see progressed()
  float most_cpu = 0;            // most cores it used in a second since it last progressed
  bool refused = false;          // the rank's machine reports that its process is gone
  bool machine_answers = false;  // its machine has answered since a heartbeat was due
  // Number of consecutive queries to its machine that got no answer in time, if earlier ones were
  // answered. 0 again when anything arrives from there.
  int unanswered = 0;
  // Steps that the observer began since it missed a heartbeat of the rank.
  std::int64_t steps_since = 0;
};

// Reasons why ranks wait.
enum class Trouble : std::uint8_t {
  kFrozen,       // the process is silent, but its machine answers
  kDead,         // the process is gone
  kLostMachine,  // all processes of a machine are silent, and the machine does not answer
  kLostAll,      // all other machines are silent: this machine is disconnected
  kUnheard,      // a rank is silent, but progresses: health messages are held up
  kDisk,         // a rank waits for its data, and its process computes nothing
  kDecoding,     // a rank waits for its data, which its process is decoding
  kExchange,     // a rank waits for data from other ranks
  kCompute,      // a rank computes
  kStuck,        // a rank outside steps neither computes nor reads nor writes
  kMessages,     // all ranks wait for each other: messages do not arrive
  kStarting,     // a process is silent before its first step, but its machine answers
  kSilent,       // a rank is silent, and the state of its machine is unknown
};
inline constexpr int kTroubles = 13;

// Why ranks wait, as seen by one rank (the observer).
struct Finding {
  Trouble trouble{};
  std::vector<int> ranks;  // the ranks that the others wait for
  double waited_s = 0;
  int waiting = 0;  // number of ranks that wait, without the observer

  friend bool operator==(const Finding&, const Finding&) = default;
};

// A rank is called silent if no message came from it for so many seconds. Heartbeats come once a
// second.
inline constexpr double kSilentSeconds = 5;

// Determines which ranks are waited for, and why, from everything that rank `me` knows. Pure.
//
// In         `seen`, `members`: one entry a rank. `stall_s`: seconds.
// Out        One finding for each Trouble, ordered by lowest rank. Empty if nobody is silent, and
//            nobody has waited for `stall_s` (within a step, for three typical steps if that is
//            longer). Also empty if the ranks waited for are progressing in work outside steps.
// Fairness   Ranks that were never heard are not blamed. A machine or a link is only blamed for
//            unanswered queries that had time for an answer. Until then a silent rank is not
//            reported; five seconds later it is reported as of unknown state.
std::vector<Finding> diagnose(int me, std::span<const Seen> seen,
                              const std::vector<Member>& members, double stall_s);

// A finding of rank `me` in a sentence: "waiting 12 s for rank 1 (h2), last seen in step 17,
// backward, bucket 3: its process is frozen, but its machine answers; 2 others wait too".
std::string in_words(int me, const Finding& finding, std::span<const Seen> seen,
                     const std::vector<Member>& members);

// Whether ranks with this trouble may never recover, so that waiting for them must have a limit.
constexpr bool may_last(Trouble trouble) noexcept { return trouble != Trouble::kUnheard; }

// The rank that reports to the user: the lowest one that rank `me` has heard recently. If `machine`
// is given: the lowest one of that machine.
int speaker(int me, std::span<const Seen> seen, const std::vector<Member>& members,
            std::optional<int> machine = {});

// A straggler: a rank whose steps take longer than those of the others, and why.
struct Straggler {
  enum class Reason : std::uint8_t { kCompute, kCores, kDecoding, kDisk };
  int rank = 0;
  Reason reason = Reason::kCompute;
  double own_s = 0;     // seconds of the rank's own work in a step
  double median_s = 0;  // median over all ranks
  bool badly = false;   // whether the rank takes several times as long as others

  friend bool operator==(const Straggler&, const Straggler&) = default;
};

// Finds stragglers, which slow down all other ranks. Pure.
// - The slowest rank, if its own work in a step exceeds the median by more than `share` of a step.
// - Every rank that takes several times as long as the median and exceeds it by a quarter of
//   `share` of a step, because then its messages are late as well.
// - Every rank whose threads wait several times as long for cores, because then it also receives
//   late.
std::vector<Straggler> find_stragglers(std::span<const Seen> seen, double share);

// A straggler in words: "rank 2 (h3) holds up every step, last seen in step 17, forward: it needs
// 251 ms, others 101 ms; it computes slowly".
std::string in_words(const Straggler& straggler, std::span<const Seen> seen,
                     const std::vector<Member>& members);

// Ranks whose processes are gone, as their machines report, without having announced that they
// leave.
std::vector<int> gone_ranks(std::span<const Seen> seen);

// Ranks that are gone, in words: "rank 2 (h3) is gone, last seen in step 17, forward: its process
// was killed or crashed".
std::string gone_in_words(const std::vector<int>& ranks, std::span<const Seen> seen,
                          const std::vector<Member>& members);

}  // namespace winnow::health

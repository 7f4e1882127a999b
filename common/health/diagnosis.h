#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/health/status.h"

namespace winnow::health {

// Knowledge about a rank (perhaps the observer itself).
struct Seen {
  Status last;                   // last received status
  bool heard = false;            // whether any was received
  double silent_s = 0;           // seconds since then
  double idle_s = 0;             // seconds without progress, see progressed()
  float most_cpu = 0;            // maximum cores it used in a second since then
  bool refused = false;          // its machine reports that its process is gone
  bool machine_answers = false;  // its machine has answered since a heartbeat of the rank was due
  // Consecutive questions to its machine that had time for an answer and got none, if the machine
  // has answered earlier ones; reset when anything arrives from there.
  int unanswered = 0;
  std::int64_t steps_since = 0;  // steps that the observing rank began since it missed a heartbeat
};

// Reasons why ranks wait.
enum class Trouble : std::uint8_t {
  kFrozen,       // a silent process on a machine that answers
  kDead,         // a process that is gone
  kLostMachine,  // no process of a machine is heard, nor does the machine answer
  kLostAll,      // no other machine is heard either: this one is disconnected
  kUnheard,      // silent, but progressing: health messages are held up
  kDisk,         // a rank waits for its data and computes nothing
  kDecoding,     // a rank waits for its data while it computes (decodes)
  kExchange,     // a rank waits for data from others
  kCompute,      // a rank computes
  kStuck,        // a rank outside steps neither computes nor reads nor writes
  kMessages,     // all wait for each other: messages do not arrive
  kStarting,     // a process that is silent before its first step, on a machine that answers
  kSilent,       // a silent rank on a machine of unknown state
};
inline constexpr int kTroubles = 13;

// A problem as seen by one rank.
struct Finding {
  Trouble trouble{};
  std::vector<int> ranks;  // ranks that are waited for
  double waited_s = 0;
  int waiting = 0;  // number of waiting ranks, without the observer

  friend bool operator==(const Finding&, const Finding&) = default;
};

// A rank without a message for this long is silent. Heartbeats come once a second.
inline constexpr double kSilentSeconds = 5;

// Determines which ranks are waited for, and why, from everything that rank `me` has seen. Pure.
//
// In         `seen`, `members`: one entry a rank.
// Out        One finding for each trouble, that of the lowest rank first. Empty if nobody is
//            silent, and nobody has waited for `stall_s` (within a step, for three typical steps if
//            that is longer), or if the ranks waited for are progressing in work without steps.
// Fairness   Ranks that were never heard are not blamed. A machine or a link is only blamed for
//            unanswered questions that had time for an answer. Until then a silent rank is not
//            reported; five seconds later it is reported as of unknown state.
std::vector<Finding> diagnose(int me, std::span<const Seen> seen,
                              const std::vector<Member>& members, double stall_s);

// A finding of rank `me` as a sentence: "waiting 12 s for rank 1 (h2), last seen in step 17,
// backward, bucket 3: its process is frozen, but its machine answers; 2 others wait too".
std::string in_words(int me, const Finding& finding, std::span<const Seen> seen,
                     const std::vector<Member>& members);

// Whether the ranks of a finding may never recover, so that waiting must have a limit.
constexpr bool may_last(Trouble trouble) noexcept { return trouble != Trouble::kUnheard; }

// The rank that reports to the user: the lowest one that rank `me` has heard recently. With
// `machine`, the lowest one of that machine.
int speaker(int me, std::span<const Seen> seen, const std::vector<Member>& members,
            std::optional<int> machine = {});

// A rank whose steps take longer than the others', and the reason.
struct Straggler {
  enum class Reason : std::uint8_t { kCompute, kCores, kDecoding, kDisk };
  int rank = 0;
  Reason reason = Reason::kCompute;
  double own_s = 0;     // duration of its own work in a step
  double median_s = 0;  // median over all ranks
  bool badly = false;   // takes several times as long

  friend bool operator==(const Straggler&, const Straggler&) = default;
};

// Ranks that slow down all others. Pure.
// - The slowest rank, if its own work in a step exceeds the median by more than `share` of a step.
// - Every rank that takes several times as long, if it exceeds it by a quarter of that, because
//   then its messages are late as well.
// - Every rank whose threads wait several times as long for cores, because then it also receives
//   late.
std::vector<Straggler> find_stragglers(std::span<const Seen> seen, double share);

// "rank 2 (h3) holds up every step, last seen in step 17, forward: it needs 251 ms, others 101 ms;
// it computes slowly".
std::string in_words(const Straggler& straggler, std::span<const Seen> seen,
                     const std::vector<Member>& members);

// Ranks whose machines report that their processes are gone, without having said goodbye.
std::vector<int> gone_ranks(std::span<const Seen> seen);

// "rank 2 (h3) is gone, last seen in step 17, forward: its process was killed or crashed".
std::string gone_in_words(const std::vector<int>& ranks, std::span<const Seen> seen,
                          const std::vector<Member>& members);

}  // namespace winnow::health

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/health/status.h"

namespace winnow::health {

// What a rank knows of one of the ranks, itself among them.
struct Seen {
  Status last;                   // that it told
  bool heard = false;            // ever
  double silent_s = 0;           // since then
  double idle_s = 0;             // since it last got on, see progressed()
  float most_cpu = 0;            // cores that it used in a second since then, at most
  bool refused = false;          // its machine says that its process is gone
  bool machine_answers = false;  // its machine has answered since a heartbeat of the rank was due
  int unanswered = 0;            // questions to its machine, which has answered earlier ones, that
                                 // were sent, had time for an answer, and got none; since anything
                                 // came from there
  std::int64_t steps_since = 0;  // that the rank that sees it began since it missed a heartbeat
};

// Why ranks wait.
enum class Trouble : std::uint8_t {
  kFrozen,       // a process that says nothing, on a machine that answers
  kDead,         // a process that is gone
  kLostMachine,  // no process of a machine says anything, nor does the machine
  kLostAll,      // nor does any other machine: this one is cut off
  kUnheard,      // says nothing, but gets on: messages of health are held up on their way
  kDisk,         // a rank waits for its data, and computes nothing
  kDecoding,     // a rank waits for its data, and computes
  kExchange,     // a rank waits for data that others have
  kCompute,      // a rank computes
  kStuck,        // a rank neither computes nor reads nor writes, outside steps
  kMessages,     // all wait for one another: what they send does not arrive
  kStarting,     // a process that says nothing before its first step, on a machine that answers
  kSilent,       // nothing comes from a rank, and nothing is known of its machine
};
inline constexpr int kTroubles = 13;

// What is wrong, as one rank sees it.
struct Finding {
  Trouble trouble{};
  std::vector<int> ranks;  // that are waited for
  double waited_s = 0;
  int waiting = 0;  // ranks that wait, but for the one that found it

  friend bool operator==(const Finding&, const Finding&) = default;
};

// A rank that says nothing for so long is silent. Heartbeats come once a second.
inline constexpr double kSilentSeconds = 5;

// Who waits for whom, and what is wrong with that one: what rank `me` makes of all that it has
// seen. Pure.
//
// Out   one of each trouble, that of the lowest rank first. None: nobody is silent, and nobody has
//       waited, for `stall_s`, or in a step for three typical ones where these are longer; or those
//       waited for get on in work that has no steps
// In    `seen`, `members`: of each rank
// Ranks that were never heard are not accused: nothing is known of them. A machine or a link is
// accused by questions that had time for an answer alone; until they did, a silent rank is not told
// of, and after five seconds more as one of which nothing is known
std::vector<Finding> diagnose(int me, std::span<const Seen> seen,
                              const std::vector<Member>& members, double stall_s);

// A finding of rank `me` in a sentence: "waiting 12 s for rank 1 (h2), last seen in step 17,
// backward, bucket 3: its process is frozen, its machine answers; 2 others wait too".
std::string in_words(int me, const Finding& finding, std::span<const Seen> seen,
                     const std::vector<Member>& members);

// Whether the ranks of a finding may never come back by themselves, so that to wait has an end.
constexpr bool may_last(Trouble trouble) noexcept { return trouble != Trouble::kUnheard; }

// The rank that speaks to people for all that rank `me` has heard lately: the lowest one. With
// `machine`, of one machine.
int speaker(int me, std::span<const Seen> seen, const std::vector<Member>& members,
            std::optional<int> machine = {});

// A rank whose steps take longer than the others', and why.
struct Straggler {
  enum class Reason : std::uint8_t { kCompute, kCores, kDecoding, kDisk };
  int rank = 0;
  Reason reason = Reason::kCompute;
  double own_s = 0;     // a step of its own takes
  double median_s = 0;  // takes in the middle of all ranks
  bool badly = false;   // it takes several times as long

  friend bool operator==(const Straggler&, const Straggler&) = default;
};

// The slowest rank, where what it does itself in a step takes longer than the median of all by more
// than `share` of a step; each that takes several times as long, by a quarter of that, for then
// what it sends is late as well; and each whose threads wait several times as long for cores, for
// then also what it receives is taken late. Pure.
std::vector<Straggler> find_stragglers(std::span<const Seen> seen, double share);

// "rank 2 (h3) holds up every step, last seen in step 17, forward: it needs 251 ms, others 101 ms;
// it computes slowly".
std::string in_words(const Straggler& straggler, std::span<const Seen> seen,
                     const std::vector<Member>& members);

// Ranks whose machines say that their processes are gone, and that did not say that they leave.
std::vector<int> gone_ranks(std::span<const Seen> seen);

// "rank 2 (h3) is gone, last seen in step 17, forward: its process was killed or crashed".
std::string gone_in_words(const std::vector<int>& ranks, std::span<const Seen> seen,
                          const std::vector<Member>& members);

}  // namespace winnow::health

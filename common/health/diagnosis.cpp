#include "common/health/diagnosis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <tuple>

#include "common/statistics.h"

namespace winnow::health {
namespace {

// Three heartbeats.
constexpr double kMissedSeconds = 3;
// Waiting for a disk leaves most of a core idle.
constexpr float kDecodingCores = 0.3F;
// After this silence of an active rank, only its heartbeats can be delayed: a machine may have no
// core for a thread for a while.
constexpr double kUnheardSeconds = 15;
// The messages a frozen rank sent before allow the others fewer steps than this.
constexpr std::int64_t kStepsWithout = 3;
// Cores that a process uses while it waits for its disk.
constexpr float kIdleCores = 0.02F;
// A machine with this many unanswered questions is unreachable.
constexpr int kUnanswered = 5;
// Minimum time for asking and answering them.
constexpr double kEvidenceSeconds = 5;
// All ranks compute equally much in a step: one that uses this much more core time has slow cores.
constexpr double kMoreCpu = 1.3;
// A badly slow rank takes this many times as long for a step.
constexpr double kSeveral = 3;
// A rank whose threads wait for this many more cores than the others' is deprived of cores; it
// delays steps if that makes them this many times as slow.
constexpr double kTakenCores = 0.3;
constexpr double kStarved = 4;

const Seen& at(std::span<const Seen> seen, int rank) {
  return seen[static_cast<std::size_t>(rank)];
}

// Duration of a rank's step without waiting for others.
double own_seconds(const Status& s) {
  return double{s.seconds.work} + s.seconds.batch - s.seconds.exchange;
}

// Slow-down of its threads by waiting for cores.
double stretched_by(const Status& s) { return 1 + s.delayed / std::max(double{s.cpu}, 0.01); }

bool is_over(const Seen& s) { return s.heard && s.last.stage == Stage::kLeaving; }
bool is_alive(const Seen& s) { return s.heard && !is_over(s) && s.silent_s < kSilentSeconds; }

// It may be about to fall silent, so its last status may be outdated.
bool is_in_doubt(int, const Seen& s) {
  return s.heard && !is_over(s) && s.silent_s >= kMissedSeconds;
}

std::vector<int> ranks_where(std::span<const Seen> seen, const auto& condition) {
  std::vector<int> ranks;
  for (int r = 0; r < static_cast<int>(seen.size()); ++r) {
    if (condition(r, at(seen, r))) ranks.push_back(r);
  }
  return ranks;
}

// An evaluation of all ranks.
class Look {
 public:
  Look(int me, std::span<const Seen> seen, const std::vector<Member>& members, double stall_s)
      : me_(me), seen_(seen), members_(members), stall_s_(stall_s) {}

  std::vector<Finding> find() const {
    std::vector<Finding> found = silent_ranks();
    if (found.empty()) {
      if (auto late = late_ranks()) found.push_back(*std::move(late));
    }
    return found;
  }

 private:
  int machine_of(int rank) const { return members_[static_cast<std::size_t>(rank)].machine; }

  // Live ranks that have waited for others for `seconds`.
  std::vector<int> blocked_for(double seconds) const {
    return ranks_where(seen_, [&](int, const Seen& s) {
      return is_alive(s) && is_blocked(s.last) && s.idle_s >= seconds;
    });
  }

  int waiting_besides(const std::vector<int>& ranks) const {
    const std::vector<int> blocked = blocked_for(std::min(stall_s_, 1.0));
    return static_cast<int>(std::ranges::count_if(
        blocked, [&](int r) { return r != me_ && std::ranges::find(ranks, r) == ranks.end(); }));
  }

  Finding finding(Trouble trouble, std::vector<int> ranks, double waited_s) const {
    const int waiting = waiting_besides(ranks);
    return {trouble, std::move(ranks), waited_s, waiting};
  }

  double own_idle() const { return at(seen_, me_).idle_s; }

  // Duration of a typical step; longer waiting within a step is not normal.
  double typical_s() const {
    double typical = 0;
    for (const Seen& s : seen_) {
      if (is_alive(s)) typical = std::max<double>(typical, s.last.seconds.step);
    }
    return typical;
  }
  double in_step_s() const { return std::max(stall_s_, 3 * typical_s()); }

  // Whether it has taken part since its last message: no step finishes without it.
  bool has_taken_part(const Seen& s) const {
    const Status& own = at(seen_, me_).last;
    return s.steps_since > 1 || (!own.is_first_step && own.step > s.last.step + 1);
  }

  std::vector<Finding> silent_ranks() const {
    const std::vector<int> silent = ranks_where(seen_, [&](int r, const Seen& s) {
      return r != me_ && s.heard && !is_over(s) && s.silent_s >= std::max(stall_s_, kSilentSeconds);
    });
    std::vector<Finding> found;
    for (const int r : silent) {
      double silent_s = at(seen_, r).silent_s;
      Trouble trouble = Trouble::kUnheard;
      const bool took_part = has_taken_part(at(seen_, r));
      if (took_part && own_idle() < in_step_s()) {
        const bool takes_part = at(seen_, r).steps_since >= kStepsWithout &&
                                own_idle() < std::max(kMissedSeconds, 2 * typical_s());
        if (!takes_part || silent_s < std::max(stall_s_, kUnheardSeconds)) continue;
      } else {
        if (took_part) silent_s = std::min(silent_s, own_idle());
        trouble = trouble_of_silent(r);
      }
      const double known_by = std::max(stall_s_, kSilentSeconds) + kEvidenceSeconds;
      if (trouble == Trouble::kSilent && silent_s < known_by) continue;
      const auto same = std::ranges::find(found, trouble, &Finding::trouble);
      if (same == found.end()) {
        found.push_back({trouble, {r}, silent_s});
      } else {
        same->ranks.push_back(r);
        same->waited_s = std::max(same->waited_s, silent_s);
      }
    }
    for (Finding& one : found) one.waiting = waiting_besides(one.ranks);
    return found;
  }

  Trouble trouble_of_silent(int rank) const {
    const Seen& s = at(seen_, rank);
    if (s.refused) return Trouble::kDead;
    const int machine = machine_of(rank);
    if (answers(machine, kSilentSeconds)) {
      return is_starting(s) ? Trouble::kStarting : Trouble::kFrozen;
    }
    return is_lost(machine) ? trouble_of_lost(machine) : Trouble::kSilent;
  }

  // The trouble of a lost machine. If no other machine is reachable, it is the link of this one.
  // While that is undecided, neither is reported.
  Trouble trouble_of_lost(int machine) const {
    bool several = false;
    bool all_lost = true;
    for (int r = 0; r < static_cast<int>(seen_.size()); ++r) {
      const int other = machine_of(r);
      const Seen& s = at(seen_, r);
      if (other == machine || other == machine_of(me_) || !s.heard || is_over(s)) continue;
      if (answers(other, kMissedSeconds)) return Trouble::kLostMachine;
      several = true;
      all_lost = all_lost && is_lost(other);
    }
    if (!several) return Trouble::kLostMachine;
    return all_lost ? Trouble::kLostAll : Trouble::kSilent;
  }

  bool any_of_machine(int machine, const auto& condition) const {
    return !ranks_where(seen_, [&](int r, const Seen& s) {
              return machine_of(r) == machine && condition(s);
            }).empty();
  }

  // One of its ranks was heard recently, or it has answered a question.
  bool answers(int machine, double within_s) const {
    return any_of_machine(machine, [&](const Seen& s) {
      return (is_alive(s) && s.silent_s < within_s) || s.machine_answers;
    });
  }

  bool is_lost(int machine) const {
    return any_of_machine(machine, [](const Seen& s) { return s.unanswered >= kUnanswered; });
  }

  // Its last status may be outdated: no rank begins a second step before all have finished the
  // first.
  bool is_starting(const Seen& s) const {
    return s.last.stage == Stage::kStarting && ranks_where(seen_, [](int, const Seen& other) {
                                                 return other.last.step > 0 &&
                                                        !other.last.is_first_step;
                                               }).empty();
  }

  std::optional<Finding> late_ranks() const {
    if (!ranks_where(seen_, is_in_doubt).empty()) return std::nullopt;
    const double in_step = in_step_s();
    const std::vector<int> working =
        ranks_where(seen_, [&](int, const Seen& s) { return is_alive(s) && !is_blocked(s.last); });
    std::vector<int> blocked = blocked_for(stall_s_);
    if (working.empty()) {
      const double waited = longest_idle(blocked);
      if (blocked.size() < heard() || waited < in_step) return std::nullopt;
      return all_wait(blocked, waited);
    }
    const Seen& s = at(seen_, last_of(working));
    // Nobody waits for a rank that is further ahead: the status of those behind it is outdated.
    std::erase_if(blocked, [&](int r) { return at(seen_, r).last.step < s.last.step; });
    double waited = longest_idle(blocked);
    if (is_in_step(s.last.stage) && !s.last.is_first_step) {
      if (s.last.stage == Stage::kReading) waited = std::max(waited, s.idle_s);
      if (waited < in_step) return std::nullopt;
    } else {
      const bool computes = is_in_step(s.last.stage) && s.last.stage != Stage::kReading;
      if (s.idle_s < stall_s_ || (computes && blocked.empty())) return std::nullopt;
      waited = std::max(waited, s.idle_s);
    }
    const Trouble trouble = trouble_of(s);
    return finding(trouble, same_trouble(working, trouble, s.last), waited);
  }

  double longest_idle(const std::vector<int>& ranks) const {
    double longest = 0;
    for (const int r : ranks) longest = std::max(longest, at(seen_, r).idle_s);
    return longest;
  }

  // Includes ranks that have left: who waits then waits for an end.
  std::size_t heard() const {
    return ranks_where(seen_, [](int, const Seen& s) { return s.heard; }).size();
  }

  // The rank that is furthest behind; ties go to the first.
  int last_of(const std::vector<int>& ranks) const {
    return *std::ranges::min_element(ranks, {}, [&](int r) {
      const Status& s = at(seen_, r).last;
      return std::tuple(s.step, s.collectives, s.stage, s.bucket);
    });
  }

  std::vector<int> same_trouble(const std::vector<int>& ranks, Trouble trouble,
                                const Status& first) const {
    std::vector<int> same;
    for (const int r : ranks) {
      const Status& s = at(seen_, r).last;
      if (s.step == first.step && s.stage == first.stage && trouble_of(at(seen_, r)) == trouble) {
        same.push_back(r);
      }
    }
    return same;
  }

  // The trouble of a rank that waits for no other.
  static Trouble trouble_of(const Seen& seen) {
    const Status& s = seen.last;
    if (s.stage == Stage::kReading) {
      return s.cpu > kDecodingCores ? Trouble::kDecoding : Trouble::kDisk;
    }
    // On a busy machine it gets few cores.
    if (s.stage == Stage::kStarting && seen.most_cpu > kIdleCores) return Trouble::kCompute;
    // Updating weights is quick; what is written at the end of a step may not be.
    if (s.stage == Stage::kUpdating && s.cpu <= kDecodingCores) return Trouble::kStuck;
    return is_in_step(s.stage) ? Trouble::kCompute : Trouble::kStuck;
  }

  // A rank that waits for data from others delays those that wait for its gradients.
  Finding all_wait(const std::vector<int>& blocked, double waited) const {
    const int last = last_of(blocked);
    const Status& s = at(seen_, last).last;
    if (s.wait != Wait::kNone) return finding(Trouble::kMessages, blocked, waited);
    std::vector<int> readers;
    for (const int r : blocked) {
      const Status& other = at(seen_, r).last;
      if (other.wait == Wait::kNone && other.step == s.step) readers.push_back(r);
    }
    return finding(Trouble::kExchange, std::move(readers), waited);
  }

  const int me_;
  const std::span<const Seen> seen_;
  const std::vector<Member>& members_;
  const double stall_s_;
};

std::string_view reason_of(Trouble trouble, bool several) {
  using Pair = std::array<std::string_view, 2>;
  constexpr std::array<Pair, kTroubles> kReasons{{
      {"its process is frozen, but its machine answers",
       "their processes are frozen, but their machines answer"},
      {"its process is gone", "their processes are gone"},
      {"nothing comes from its machine: the link is down, or the machine is",
       "nothing comes from their machines: links are down, or the machines are"},
      {"nothing comes from any other machine", "nothing comes from any other machine"},
      {"heartbeats do not arrive, though it takes part: is UDP blocked between the machines?",
       "heartbeats do not arrive, though they take part: is UDP blocked between the machines?"},
      {"its disk gives it no data", "their disks give them no data"},
      {"it still decodes its batch", "they still decode their batches"},
      {"it waits for data that other ranks have", "they wait for data that other ranks have"},
      {"it still computes", "they still compute"},
      {"it does not compute, read or write: does its disk answer?",
       "they do not compute, read or write: do their disks answer?"},
      {"", "all wait for one another: messages of MPI do not arrive"},
      {"still starting: its process is too busy to say more, or frozen",
       "still starting: their processes are too busy to say more, or frozen"},
      {"nothing comes from it; whether its machine is up is unknown",
       "nothing comes from them; whether their machines are up is unknown"},
  }};
  return kReasons.at(static_cast<std::size_t>(trouble)).at(several ? 1 : 0);
}

// "rank 1 (h2), last seen in step 17, forward".
std::string place_of(const std::vector<int>& ranks, std::string_view what,
                     std::span<const Seen> seen, const std::vector<Member>& members) {
  const Status& first = at(seen, ranks.front()).last;
  return names_of(ranks, members) + std::string(what) + ", last seen " +
         (first.step > 0 ? "in " : "") + in_words(first);
}

// Three significant digits.
std::string seconds_in_words(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", seconds < 1 ? seconds * 1000 : seconds);
  return std::string(text.data()) + (seconds < 1 ? " ms" : " s");
}

}  // namespace

std::vector<Finding> diagnose(int me, std::span<const Seen> seen,
                              const std::vector<Member>& members, double stall_s) {
  return Look(me, seen, members, stall_s).find();
}

std::string in_words(int me, const Finding& finding, std::span<const Seen> seen,
                     const std::vector<Member>& members) {
  const bool several = finding.ranks.size() > 1 || finding.trouble == Trouble::kMessages;
  std::string words = "waiting " + std::to_string(std::lround(finding.waited_s)) + " s for " +
                      place_of(finding.ranks, "", seen, members) + ": " +
                      std::string(reason_of(finding.trouble, several));
  if (finding.trouble == Trouble::kLostAll) {
    words += ": the link of this one, " + members[static_cast<std::size_t>(me)].host + ", is down";
  }
  if (finding.waiting > 0) {
    words += "; " + std::to_string(finding.waiting) +
             (finding.waiting == 1 ? " other waits too" : " others wait too");
  }
  return words;
}

int speaker(int me, std::span<const Seen> seen, const std::vector<Member>& members,
            std::optional<int> machine) {
  const std::vector<int> may = ranks_where(seen, [&](int r, const Seen& s) {
    const bool here = !machine || members[static_cast<std::size_t>(r)].machine == *machine;
    return here && (r == me || (s.heard && s.silent_s < kSilentSeconds));
  });
  return may.empty() ? me : may.front();
}

std::vector<Straggler> find_stragglers(std::span<const Seen> seen, double share) {
  const std::vector<int> ranks =
      ranks_where(seen, [](int, const Seen& s) { return is_alive(s) && s.last.seconds.step > 0; });
  if (ranks.size() < 2) return {};
  const auto median_of = [&](const auto& value) {
    std::vector<double> values;
    for (const int r : ranks) values.push_back(value(at(seen, r).last));
    return median(std::move(values), Middle::kLower);  // with two ranks, one may be slow
  };
  const double own_s = median_of(own_seconds);
  const double work_s = median_of([](const Status& s) { return double{s.seconds.work}; });
  const double cpu = median_of([](const Status& s) { return double{s.cpu}; });
  const double delayed = median_of([](const Status& s) { return double{s.delayed}; });
  const double stretched = median_of(stretched_by);
  const int slowest =
      *std::ranges::max_element(ranks, {}, [&](int r) { return own_seconds(at(seen, r).last); });
  std::vector<Straggler> found;
  for (const int r : ranks) {
    const Status& s = at(seen, r).last;
    const double more_s = own_seconds(s) - own_s;
    const bool lacks_cores = s.delayed > delayed + kTakenCores;
    const bool starves = lacks_cores && stretched_by(s) > kStarved * stretched && more_s > 0;
    const bool takes_several_times =
        own_seconds(s) >= kSeveral * own_s && more_s > share / 4 * s.seconds.step;
    const bool badly = starves || takes_several_times;
    if (!badly && (r != slowest || more_s <= share * s.seconds.step)) continue;
    Straggler one{r, Straggler::Reason::kCompute, own_seconds(s), own_s, badly};
    if (lacks_cores) {
      one.reason = Straggler::Reason::kCores;
    } else if (2 * (s.seconds.work - work_s) < more_s) {
      one.reason = s.cpu > kMoreCpu * cpu ? Straggler::Reason::kDecoding : Straggler::Reason::kDisk;
    }
    found.push_back(one);
  }
  return found;
}

std::string in_words(const Straggler& straggler, std::span<const Seen> seen,
                     const std::vector<Member>& members) {
  constexpr std::array<std::string_view, 4> kReasons{
      "it computes slowly", "other work has its cores", "it decodes its images slowly",
      "its disk gives it data slowly"};
  return place_of({straggler.rank}, " holds up every step", seen, members) + ": it needs " +
         seconds_in_words(straggler.own_s) + ", others " + seconds_in_words(straggler.median_s) +
         "; " + std::string(kReasons.at(static_cast<std::size_t>(straggler.reason)));
}

std::vector<int> gone_ranks(std::span<const Seen> seen) {
  return ranks_where(seen, [](int, const Seen& s) { return s.heard && s.refused && !is_over(s); });
}

std::string gone_in_words(const std::vector<int>& ranks, std::span<const Seen> seen,
                          const std::vector<Member>& members) {
  return place_of(ranks, ranks.size() == 1 ? " is gone" : " are gone", seen, members) + ": " +
         (ranks.size() == 1 ? "its process was" : "their processes were") + " killed or crashed";
}

}  // namespace winnow::health

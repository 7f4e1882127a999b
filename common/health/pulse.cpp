#include "common/health/pulse.h"

#include <algorithm>
#include <cmath>

namespace winnow::health {
namespace {

constexpr double kLongestBeat = 2;       // maximum between two beats of a running process
constexpr double kMissedAfter = 2;       // time after which a heartbeat is overdue
constexpr double kProbeAfter = 3;        // time of silence before probing
constexpr double kAnswerHolds = 10;      // how long an answer proves that a machine is alive
constexpr int kInDoubt = 2;              // unless it left this many questions unanswered since
constexpr double kUnheardAfter = 20;     // time after which an active rank is unreachable
constexpr double kNotBegunAfter = 60;    // the same for a rank that may not have started sending
constexpr double kClearFor = 2;          // time after which a trouble is over
constexpr double kBetweenSentences = 5;  // minimum between messages about one changing trouble
constexpr double kBeforeAnother = 2;     // delay of a message that names one more rank
constexpr int kRestartMe = 75;           // EX_TEMPFAIL

bool are_same(const std::vector<Finding>& a, const std::vector<Finding>& b) {
  return std::ranges::equal(a, b, [](const Finding& one, const Finding& other) {
    return one.trouble == other.trouble && one.ranks == other.ranks;
  });
}

// The longest wait that may not end by itself; 0: none.
double waited_of(const std::vector<Finding>& findings) {
  double waited = 0;
  for (const Finding& f : findings) {
    if (may_last(f.trouble)) waited = std::max(waited, f.waited_s);
  }
  return waited;
}

std::vector<int> ranks_of(const std::vector<Finding>& findings) {
  std::vector<int> ranks;
  for (const Finding& f : findings) {
    if (may_last(f.trouble)) ranks.insert(ranks.end(), f.ranks.begin(), f.ranks.end());
  }
  std::ranges::sort(ranks);
  return ranks;
}

std::string whole_seconds(double seconds) { return std::to_string(std::lround(seconds)) + " s"; }

}  // namespace

Pulse::Pulse(int me, std::vector<Member> members, const JobSecret& secret, const Limits& limits)
    : me_(me),
      members_(std::move(members)),
      secret_(secret),
      limits_(limits),
      known_(members_.size()),
      stragglers_(size(), limits.straggler),
      questions_(me, members_) {}

double Pulse::awake_at(double now) const {
  if (!last_beat_) return 0;
  return awake_s_ + std::clamp(now - *last_beat_, 0.0, kLongestBeat);
}

std::optional<int> Pulse::hear(const Heard& heard, double now) {
  const double at = awake_at(now);
  if (heard.kind != Heard::Kind::kMessage) {
    questions_.answered(heard.rank, at);
    if (heard.kind == Heard::Kind::kRefused) {
      known_[static_cast<std::size_t>(heard.rank)].refused_at = at;
    }
    return std::nullopt;
  }
  const std::optional<Status> status = decode(heard.bytes, secret_, size());
  if (!status || status->rank == me_) return std::nullopt;
  learn(*status, at);
  if (status->stage == Stage::kLeaving && status->exit_code != 0) {
    told_to_leave_ = status->exit_code;
  }
  return status->rank;
}

void Pulse::learn(const Status& status, double at) {
  Known& known = known_[static_cast<std::size_t>(status.rank)];
  if (!known.heard || progressed(known.last, status)) {
    known.progress_at = at;
    known.most_cpu = 0;
  }
  known.most_cpu = std::max(known.most_cpu, status.cpu);
  known.last = status;
  known.heard = true;
  known.heard_at = at;
  known.missed_in_step.reset();
  questions_.heard(status.rank);
}

std::vector<Seen> Pulse::look(double at) const {
  std::vector<Seen> seen;
  const std::int64_t step = known_[static_cast<std::size_t>(me_)].last.step;
  for (int r = 0; r < size(); ++r) {
    const Known& k = known_[static_cast<std::size_t>(r)];
    const double answered = questions_.answered_at(r);
    seen.push_back({.last = k.last,
                    .heard = k.heard,
                    .silent_s = at - k.heard_at,
                    .idle_s = at - k.progress_at,
                    .most_cpu = k.most_cpu,
                    .refused = k.refused_at > k.heard_at,
                    .machine_answers = answered > k.heard_at + kMissedAfter &&
                                       at - answered < kAnswerHolds &&
                                       questions_.unanswered(r) < kInDoubt,
                    .unanswered = questions_.unanswered(r),
                    .steps_since = step - k.missed_in_step.value_or(step)});
  }
  return seen;
}

Beat Pulse::beat(Status own, std::int64_t saved, double now) {
  awake_s_ = awake_at(now);
  last_beat_ = now;
  own.rank = me_;
  learn(own, awake_s_);
  questions_.count_unanswered(now);
  for (Known& k : known_) {
    if (awake_s_ - k.heard_at >= kMissedAfter && !k.missed_in_step) k.missed_in_step = own.step;
  }
  const std::vector<Seen> seen = look(awake_s_);
  Beat beat{.message = encode(own, secret_)};
  for (int r = 0; r < size(); ++r) {
    const Seen& s = seen[static_cast<std::size_t>(r)];
    if (r == me_ || s.last.stage == Stage::kLeaving) continue;
    if (s.silent_s >= kProbeAfter) beat.far.push_back(r);
  }
  beat.probes = questions_.to_ask(seen, members_);
  findings_ = diagnose(me_, seen, members_, limits_.stall_s);
  tell_findings(beat, seen, awake_s_);
  tell_unheard(beat, seen, awake_s_);
  tell_stragglers(beat, seen, awake_s_);
  decide_end(beat, seen, saved, awake_s_);
  return beat;
}

void Pulse::say(Beat& beat, const std::vector<Seen>& seen, std::string text) const {
  const int machine = members_[static_cast<std::size_t>(me_)].machine;
  const bool to_people = speaker(me_, seen, members_) == me_;
  const bool to_log = speaker(me_, seen, members_, machine) == me_;
  if (to_people || to_log) beat.sentences.push_back({std::move(text), to_people, to_log});
}

// A trouble is reported when found, when it changes into another one, each time its duration has
// doubled, and when it is over.
void Pulse::tell_findings(Beat& beat, const std::vector<Seen>& seen, double at) {
  if (findings_.empty()) {
    if (told_.empty()) return;
    if (clear_since_ < 0) clear_since_ = at;
    if (at - clear_since_ < kClearFor) return;
    if (longest_s_ > 0) {
      say(beat, seen,
          "all ranks continue, after " + whole_seconds(longest_s_) + " of waiting for " +
              names_of(ranks_of(told_), members_));
    }
    told_.clear();
    return;
  }
  clear_since_ = -1;
  const double waited = waited_of(findings_);
  longest_s_ = told_.empty() ? waited : std::max(longest_s_, waited);
  if (!told_.empty()) {
    const bool lasts = waited > 0 && waited >= 2 * waited_of(told_);
    if (are_same(told_, findings_) && !lasts) return;
    const bool names_more = !std::ranges::includes(ranks_of(told_), ranks_of(findings_));
    if (at - told_at_ < (names_more ? kBeforeAnother : kBetweenSentences)) return;
  }
  for (const Finding& finding : findings_) say(beat, seen, in_words(me_, finding, seen, members_));
  told_ = findings_;
  told_at_ = at;
}

void Pulse::tell_unheard(Beat& beat, const std::vector<Seen>& seen, double at) {
  const Status& own = known_[static_cast<std::size_t>(me_)].last;
  const bool all_take_part = own.step > 0 && !own.is_first_step;
  if (told_unheard_ || at < (all_take_part ? kUnheardAfter : kNotBegunAfter)) return;
  told_unheard_ = true;
  std::vector<int> unheard;
  for (int r = 0; r < size(); ++r) {
    if (!seen[static_cast<std::size_t>(r)].heard) unheard.push_back(r);
  }
  if (unheard.empty()) return;
  say(beat, seen,
      "no heartbeats from " + names_of(unheard, members_) + " reach " +
          members_[static_cast<std::size_t>(me_)].host +
          ": the run continues, but cannot report it if they hang; allow UDP between the machines");
}

void Pulse::tell_stragglers(Beat& beat, const std::vector<Seen>& seen, double at) {
  for (const Straggler& slow : stragglers_.to_tell(seen, at)) {
    say(beat, seen, in_words(slow, seen, members_));
  }
}

void Pulse::decide_end(Beat& beat, const std::vector<Seen>& seen, std::int64_t saved, double at) {
  if (leaving_) {  // the others have had a second to report it
    beat.exit_code = leaving_;
    return;
  }
  const double waited = waited_of(findings_);
  double latest = 0;
  for (const Known& k : known_) latest = std::max(latest, k.progress_at);
  const bool dead = std::ranges::any_of(findings_, [&](const Finding& f) {
    return f.trouble == Trouble::kDead && f.waited_s >= std::min(limits_.hang_s, limits_.dead_s);
  });
  const bool hangs = limits_.hang_s > 0 && waited > 0 && (dead || at - latest >= limits_.hang_s);
  if (!hangs && !told_to_leave_) return;
  leaving_ = told_to_leave_.value_or(saved > 0 ? kRestartMe : 1);
  beat.message = farewell(*leaving_);
  const std::string after = saved > 0 ? "the checkpoint of step " + std::to_string(saved) +
                                            " is the newest: resume from it with --resume auto"
                                      : "there is no checkpoint yet: start it again";
  const std::string why = waited > 0 ? "after " + whole_seconds(waited) + " of waiting for " +
                                           names_of(ranks_of(findings_), members_)
                                     : "as another rank gave up waiting";
  say(beat, seen, "ended " + why + " (--hang-timeout); " + after);
}

std::vector<Sentence> Pulse::last_words(double now) {
  if (told_gone_) return {};
  const std::vector<Seen> seen = look(awake_at(now));
  const std::vector<int> gone = gone_ranks(seen);
  if (gone.empty()) return {};
  told_gone_ = true;
  Beat beat;
  say(beat, seen, gone_in_words(gone, seen, members_));
  return std::move(beat.sentences);
}

Bytes Pulse::farewell(int exit_code) const {
  Status status = known_[static_cast<std::size_t>(me_)].last;
  status.rank = me_;
  status.stage = Stage::kLeaving;
  status.exit_code = static_cast<std::uint8_t>(exit_code);
  return encode(status, secret_);
}

}  // namespace winnow::health

#include "common/health/questions.h"

#include <algorithm>

namespace winnow::health {
namespace {

constexpr double kAskAfter = 3;        // seconds of silence
constexpr double kTimeToAnswer = 0.4;  // seconds; kernels answer on their own
// Beats in which every beat asks: whether a machine answers at all is soon known.
constexpr int kAskedOften = 30;
constexpr int kAskedSeldom = 10;  // afterwards every n-th beat

}  // namespace

Questions::Questions(int me, const std::vector<Member>& members) : me_(me) {
  std::size_t machines = 0;
  for (const Member& member : members) {
    machine_of_.push_back(static_cast<std::size_t>(member.machine));
    machines = std::max(machines, machine_of_.back() + 1);
  }
  machines_.resize(machines);
}

const Questions::Machine& Questions::machine_of(int rank) const noexcept {
  return machines_[machine_of_[static_cast<std::size_t>(rank)]];
}
Questions::Machine& Questions::machine_of(int rank) noexcept {
  return machines_[machine_of_[static_cast<std::size_t>(rank)]];
}

void Questions::heard(int rank) noexcept {
  Machine& machine = machine_of(rank);
  machine.asked_at.reset();
  machine.unanswered = 0;
}

void Questions::answered(int rank, double at) noexcept {
  heard(rank);
  machine_of(rank).answered_at = at;
}

void Questions::asked(int rank, double now) noexcept {
  if (Machine& machine = machine_of(rank); !machine.asked_at) machine.asked_at = now;
}

// A machine that has never answered may refuse nothing: then missing answers prove nothing.
void Questions::count_unanswered(double now) noexcept {
  ++beats_;
  for (Machine& machine : machines_) {
    if (!machine.asked_at || now - *machine.asked_at < kTimeToAnswer) continue;
    machine.asked_at.reset();
    if (machine.answered_at >= 0) ++machine.unanswered;
  }
}

std::vector<int> Questions::to_ask(std::span<const Seen> seen,
                                   const std::vector<Member>& members) const {
  const int mine = members[static_cast<std::size_t>(me_)].machine;
  if (speaker(me_, seen, members, mine) != me_) return {};
  struct Ranks {
    int first = -1;  // first rank that was heard
    bool speak = false;
  };
  std::vector<Ranks> ranks(machines_.size());
  for (std::size_t r = 0; r < seen.size(); ++r) {
    if (!seen[r].heard || seen[r].last.stage == Stage::kLeaving) continue;
    Ranks& here = ranks[machine_of_[r]];
    if (here.first < 0) here.first = static_cast<int>(r);
    here.speak = here.speak || seen[r].silent_s < kAskAfter;
  }
  const bool is_time = beats_ <= kAskedOften || beats_ % kAskedSeldom == 0;
  std::vector<int> probes;
  for (std::size_t m = 0; m < ranks.size(); ++m) {
    if (m == static_cast<std::size_t>(mine) || ranks[m].first < 0) continue;
    const bool is_new = machines_[m].answered_at < 0 && is_time;
    if (!ranks[m].speak || is_new) probes.push_back(ranks[m].first);
  }
  return probes;
}

}  // namespace winnow::health

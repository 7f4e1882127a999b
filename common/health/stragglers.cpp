#include "common/health/stragglers.h"

#include <algorithm>

namespace winnow::health {
namespace {

constexpr int kFor = 30;           // seconds, more or less
constexpr double kAgain = 1800;    // while it lasts
constexpr double kOverAfter = 60;  // without one that was told of

// Seconds that one counts for. A rank that takes several times as long is told of within fifteen
// seconds, as are those that stand still.
int weight_of(const Straggler& s) { return s.takes_several_times() ? 5 : 1; }

}  // namespace

bool Stragglers::stands_still(const Status& last, double at) {
  if (last.step != step_) {
    step_ = last.step;
    stepped_at_ = at;
  }
  return at - stepped_at_ > std::max(2.0, 3.0 * double{last.seconds.step});
}

std::optional<Straggler> Stragglers::to_tell(std::span<const Seen> seen, double at) {
  const std::optional<Straggler> now = find_straggler(seen, share_);
  if (now && stands_still(seen[static_cast<std::size_t>(now->rank)].last, at)) return std::nullopt;
  const bool again = now && now->rank == rank_;
  straggles_s_ = std::clamp(straggles_s_ + (again ? weight_of(*now) : -2), 0, kFor);
  if (now && straggles_s_ == 0) {
    rank_ = now->rank;
    straggles_s_ = 1;
  }
  if (!again || straggles_s_ < kFor) return std::nullopt;
  Known& known = known_[static_cast<std::size_t>(rank_)];
  const bool lasts = known.told_at >= 0 && at - known.at < kOverAfter;
  known.at = at;
  if (lasts && at - known.told_at < kAgain) return std::nullopt;
  known.told_at = at;
  return now;
}

}  // namespace winnow::health

#include "common/health/stragglers.h"

#include <algorithm>

namespace winnow::health {
namespace {

constexpr int kFor = 30;           // approximate seconds before it is reported
constexpr double kAgain = 1800;    // seconds between repeated reports
constexpr double kOverAfter = 60;  // seconds without a reported one

// The number of seconds that one counts for. Badly slow ranks are reported within fifteen seconds,
// like those that stand still.
int weight_of(const Straggler& s) { return s.badly ? 5 : 1; }

// Its step does not end: it waits for a rank that is worse off.
bool stands_still(const Seen& seen) {
  return seen.idle_s > std::max(2.0, 3.0 * double{seen.last.seconds.step});
}

}  // namespace

std::vector<Straggler> Stragglers::to_tell(std::span<const Seen> seen, double at) {
  const std::vector<Straggler> now = find_stragglers(seen, share_);
  std::vector<Straggler> told;
  for (int r = 0; r < static_cast<int>(seen.size()); ++r) {
    Known& known = known_[static_cast<std::size_t>(r)];
    const auto found = std::ranges::find(now, r, &Straggler::rank);
    const bool straggles = found != now.end();
    if (straggles && stands_still(seen[static_cast<std::size_t>(r)])) continue;
    known.straggles_s =
        std::clamp(known.straggles_s + (straggles ? weight_of(*found) : -2), 0, kFor);
    if (!straggles || known.straggles_s < kFor) continue;
    const bool lasts = known.told_at >= 0 && at - known.at < kOverAfter;
    known.at = at;
    if (lasts && at - known.told_at < kAgain) continue;
    known.told_at = at;
    told.push_back(*found);
  }
  return told;
}

}  // namespace winnow::health

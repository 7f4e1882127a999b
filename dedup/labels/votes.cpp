#include "dedup/labels/votes.h"

namespace winnow::dedup {

std::vector<float> neighbour_votes(const NearestRows& nearest, std::span<const std::int32_t> labels,
                                   std::size_t classes) {
  // Prior vote, so that a share of 0 among many and among few neighbours differs.
  constexpr float kBeforehand = 0.5F;
  std::vector<float> shares(nearest.rows * classes, kBeforehand);
  for (std::size_t row = 0; row < nearest.rows; ++row) {
    const auto of_row = std::span(shares).subspan(row * classes, classes);
    float votes = kBeforehand * static_cast<float>(classes);
    for (const NearRow& near : nearest[row]) {
      if (labels[near.row] < 0) continue;
      of_row[static_cast<std::size_t>(labels[near.row])] += 1;
      ++votes;
    }
    for (float& share : of_row) share /= votes;
  }
  return shares;
}

}  // namespace winnow::dedup

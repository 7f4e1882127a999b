#include "dedup/verify/query.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace winnow::dedup {

PictureQuery::PictureQuery(KnownLandmarks known, PictureSource pictures, std::uint32_t rows,
                           MatchModel model)
    : known_(std::move(known)),
      searched_(searched_count(known_)),
      strangers_(non_duplicate_distance(known_)),
      pictures_(std::move(pictures)),
      rows_(rows),
      model_(model) {}

Verification PictureQuery::ask(std::span<const std::uint32_t> rows, const PictureSource& pictures,
                               std::span<const Edge> near, const VerifyOptions& options) {
  const PictureSource all = of_both(pictures_, pictures, rows_);
  std::vector<std::uint32_t> behind(rows.begin(), rows.end());
  for (std::uint32_t& row : behind) row += rows_;
  std::vector<Edge> shifted(near.begin(), near.end());
  for (Edge& edge : shifted) edge.b += rows_;
  const LandmarkTable asked(behind, all, options.search);
  // Each pair is searched unmirrored and mirrored.
  const double pairs = 2 * static_cast<double>(asked.size()) * static_cast<double>(searched_);
  const HitRadius radius =
      hit_radius(static_cast<std::size_t>(std::ceil(std::sqrt(pairs))),
                 options.hits_a_picture * static_cast<double>(rows.size()), strangers_);
  const KnownHits near_ones = find_hits_among(known_, asked, radius.bits, options.search);
  Verification out =
      verify_hits(near_ones.landmarks, near_ones.hits, all, shifted, model_, options);
  for (VerifiedPair& pair : out.pairs) pair.row_b -= rows_;
  for (Edge& edge : out.undecided) edge.b -= rows_;
  out.counts.pictures = rows.size();
  out.counts.landmarks = asked.size();
  out.counts.radius = radius.bits;
  return out;
}

}  // namespace winnow::dedup

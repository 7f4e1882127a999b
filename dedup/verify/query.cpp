#include "dedup/verify/query.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace winnow::dedup {
namespace {

// Landmarks of asked pictures behind the known ones, for as long as this lives.
class Asking {
 public:
  Asking(LandmarkTable& landmarks, const LandmarkTable& asked, std::uint32_t first_row)
      : landmarks_(landmarks), known_(static_cast<std::uint32_t>(landmarks.size())) {
    landmarks_.reserve(landmarks.size() + asked.size());
    landmarks_.append(asked, [&](std::uint32_t row) { return first_row + row; });
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  ~Asking() { landmarks_.keep_first(known_); }

  std::uint32_t first() const { return known_; }

 private:
  LandmarkTable& landmarks_;
  std::uint32_t known_;
};

}  // namespace

PictureQuery::PictureQuery(LandmarkTable known, PictureSource pictures, std::uint32_t rows,
                           MatchModel model)
    : landmarks_(std::move(known)), pictures_(std::move(pictures)), rows_(rows), model_(model) {}

Verification PictureQuery::ask(std::span<const std::uint32_t> rows, const PictureSource& pictures,
                               std::span<const Edge> near, const VerifyOptions& options) {
  const LandmarkTable asked(rows, pictures, options.search);
  // Each pair is looked at as it is and in a mirror.
  const std::vector<std::uint32_t> searched =
      searched_landmarks(landmarks_, 0, static_cast<std::uint32_t>(landmarks_.size()));
  const double pairs = 2 * static_cast<double>(asked.size()) * static_cast<double>(searched.size());
  const HitRadius radius = hit_radius(static_cast<std::size_t>(std::ceil(std::sqrt(pairs))),
                                      options.hits_a_picture * static_cast<double>(rows.size()),
                                      stranger_distance(landmarks_, searched));
  // Rows that are asked are numbered behind those that are known.
  const Asking asking(landmarks_, asked, rows_);
  std::vector<Edge> shifted(near.begin(), near.end());
  for (Edge& edge : shifted) edge.b += rows_;
  const PictureSource of_both = [&](std::uint32_t row) {
    return row < rows_ ? pictures_(row) : pictures(row - rows_);
  };
  const std::vector<Hit> hits =
      find_hits_across(landmarks_, asking.first(), radius.bits, options.search);
  Verification out = verify_hits(landmarks_, hits, of_both, shifted, model_, options);
  for (VerifiedPair& pair : out.pairs) pair.row_b -= rows_;
  for (Edge& edge : out.undecided) edge.b -= rows_;
  out.counts.pictures = rows.size();
  out.counts.landmarks = asked.size();
  out.counts.radius = radius.bits;
  return out;
}

}  // namespace winnow::dedup

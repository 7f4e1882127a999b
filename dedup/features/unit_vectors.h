#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dedup/features/feature_table.h"
#include "dedup/table/fingerprints.h"

namespace winnow::dedup {

// Vectors of length 1, f32. Rows are padded with zeros to a multiple of kLanes elements.
class UnitVectors {
 public:
  static constexpr std::size_t kLanes = 16;

  // Normalises the vectors of a table. Memory: 4 bytes an element. Parallel by TBB.
  explicit UnitVectors(const FeatureTable& table);

  std::size_t size() const noexcept { return size_; }
  std::size_t padded() const noexcept { return padded_; }
  std::span<const float> operator[](std::size_t row) const noexcept {
    return std::span(values_).subspan(row * padded_, padded_);
  }
  // Between -1 and 1. The same bits on every processor, and for both orders of the rows.
  float cosine(std::size_t a, std::size_t b) const noexcept;

 private:
  std::size_t size_;
  std::size_t padded_;
  std::vector<float> values_;
};

// The dot product. Both sizes are equal multiples of kLanes. Always added in the same order.
float dot(std::span<const float> a, std::span<const float> b) noexcept;

// A centre for the vectors, and the distance of each row from it.
struct Viewpoint {
  std::vector<float> point;      // padded
  std::vector<float> distances;  // one for each row
};
Viewpoint seen_from_origin(const UnitVectors& vectors);
Viewpoint seen_from_mean(const UnitVectors& vectors);

// Codes by random projections: bit i tells on which side of a plane through the centre the vector
// lies. The plane's normal is drawn from a normal distribution by (seed, i).
inline constexpr int kProjections = 256;
CodeColumn project(const UnitVectors& vectors, const Viewpoint& from, std::uint64_t seed);

// Search radius for the codes, and its expected cost.
struct ProjectionPlan {
  int radius = 0;         // bits
  double candidates = 0;  // expected share of all pairs within the radius
};
// The smallest radius that finds `recall` of the pairs with that cosine among `rows`.
// Model   Two vectors at an angle, seen from the centre, differ in each bit with probability angle
//         / pi (Goemans and Williamson 1995). Averaged over pairs of equal distance from the
//         centre, one for each row.
// Cost    The candidates are estimated from pairs drawn by `seed`.
ProjectionPlan plan_projections(const UnitVectors& vectors, const Viewpoint& from,
                                std::span<const std::uint32_t> rows, double cosine, double recall,
                                std::uint64_t seed);
int radius_for(std::span<const float> distances, double cosine, double recall);

}  // namespace winnow::dedup

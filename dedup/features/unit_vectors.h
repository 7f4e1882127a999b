#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dedup/features/feature_table.h"
#include "dedup/table/fingerprints.h"

namespace winnow::dedup {

// Vectors of length 1 as f32. Each is padded with zeros to a multiple of kLanes elements.
class UnitVectors {
 public:
  static constexpr std::size_t kLanes = 16;

  // Takes the vectors of a table, scaled to length 1. Memory: 4 bytes an element. Parallel by TBB.
  explicit UnitVectors(const FeatureTable& table);

  std::size_t size() const noexcept { return size_; }
  std::size_t padded() const noexcept { return padded_; }
  std::span<const float> operator[](std::size_t row) const noexcept {
    return std::span(values_).subspan(row * padded_, padded_);
  }
  // Cosine of two rows, between -1 and 1. The same bits on every processor and in either order.
  float cosine(std::size_t a, std::size_t b) const noexcept;

 private:
  std::size_t size_;
  std::size_t padded_;
  std::vector<float> values_;
};

// Dot product of two vectors of equal size, a multiple of kLanes. Sums are formed in a fixed order,
// so bits are the same everywhere.
float dot(std::span<const float> a, std::span<const float> b) noexcept;

// A point that vectors are seen from, the origin or their mean, and the distance of each vector
// from it.
struct Viewpoint {
  std::vector<float> point;      // padded
  std::vector<float> distances;  // one for each row
};
Viewpoint seen_from_origin(const UnitVectors& vectors);
Viewpoint seen_from_mean(const UnitVectors& vectors);

// Computes codes of the vectors by random projections. Bit i of a code tells on which side of plane
// i the vector lies. Plane i goes through the point `from`; its normal is drawn from a normal
// distribution by (seed, i).
inline constexpr int kProjections = 256;
CodeColumn project(const UnitVectors& vectors, const Viewpoint& from, std::uint64_t seed);

// The radius for searching projection codes, and the expected cost of the search.
struct ProjectionPlan {
  int radius = 0;         // bits
  double candidates = 0;  // expected share of all pairs of rows that are within the radius
};
// The smallest radius that finds the share `recall` of the pairs of `rows` that have this cosine.
// Model   If two vectors are seen from the point at an angle, each bit differs with probability
//         angle / pi (Goemans and Williamson 1995). Averaged over pairs at equal distance from the
//         point, one for each row.
// Cost    The number of candidates is estimated from pairs drawn by `seed`.
ProjectionPlan plan_projections(const UnitVectors& vectors, const Viewpoint& from,
                                std::span<const std::uint32_t> rows, double cosine, double recall,
                                std::uint64_t seed);
int radius_for(std::span<const float> distances, double cosine, double recall);

}  // namespace winnow::dedup

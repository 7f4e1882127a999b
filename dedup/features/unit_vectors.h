#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dedup/features/feature_table.h"
#include "dedup/fingerprints.h"

namespace winnow::dedup {

// Vectors of length 1, f32, rows padded with zeros to a multiple of kLanes elements.
class UnitVectors {
 public:
  static constexpr std::size_t kLanes = 16;

  // Those of a table. Memory: 4 bytes an element. Parallel by TBB.
  explicit UnitVectors(const FeatureTable& table);

  std::size_t size() const noexcept { return size_; }
  std::size_t padded() const noexcept { return padded_; }
  std::span<const float> operator[](std::size_t row) const noexcept {
    return std::span(values_).subspan(row * padded_, padded_);
  }
  // The same bits on every processor and whichever row is named first. Between -1 and 1.
  float cosine(std::size_t a, std::size_t b) const noexcept;

 private:
  std::size_t size_;
  std::size_t padded_;
  std::vector<float> values_;
};

// The sum of products; a.size() is a multiple of kLanes, as b's. Always added in one order.
float dot(std::span<const float> a, std::span<const float> b) noexcept;

// A point that vectors are seen from, and how far each is from it.
struct Viewpoint {
  std::vector<float> point;      // padded
  std::vector<float> distances;  // of each row
};
Viewpoint seen_from_origin(const UnitVectors& vectors);
Viewpoint seen_from_mean(const UnitVectors& vectors);

// Codes by random projections: bit i says on which side of a plane through the point the vector is,
// whose normal is drawn from a normal distribution by (seed, i).
inline constexpr int kProjections = 256;
CodeColumn project(const UnitVectors& vectors, const Viewpoint& from, std::uint64_t seed);

// Which codes to search, and how far.
struct ProjectionPlan {
  int radius = 0;         // bits
  double candidates = 0;  // share of all pairs that are expected to be within it
};
// The least radius that finds `recall` of the pairs of that cosine among `rows`: two vectors that
// are at an angle, seen from the point, differ in each bit with probability angle / pi (Goemans and
// Williamson 1995). Expected over pairs that are as far from the point as each other, one for each
// row. What it brings besides is estimated by pairs that are drawn by `seed`.
ProjectionPlan plan_projections(const UnitVectors& vectors, const Viewpoint& from,
                                std::span<const std::uint32_t> rows, double cosine, double recall,
                                std::uint64_t seed);
int radius_for(std::span<const float> distances, double cosine, double recall);

}  // namespace winnow::dedup

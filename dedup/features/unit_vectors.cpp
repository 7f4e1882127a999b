#include "dedup/features/unit_vectors.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "common/binomial.h"
#include "common/rng.h"

namespace winnow::dedup {
namespace {

constexpr std::size_t kPlanes = kProjections;

// The normals of the planes, one after the other.
std::vector<float> planes_of(std::size_t dimensions, std::uint64_t seed) {
  std::vector<float> planes(kPlanes * dimensions);
  tbb::parallel_for(std::size_t{0}, kPlanes, [&](std::size_t plane) {
    CounterRng rng(seed, 0, plane, RandomUse::kStudy);
    for (std::size_t i = 0; i < dimensions; ++i) {  // Box and Muller 1958
      const double length = std::sqrt(-2 * std::log1p(-rng.uniform()));
      planes[plane * dimensions + i] =
          static_cast<float>(length * std::cos(2 * std::numbers::pi * rng.uniform()));
    }
  });
  return planes;
}

// The angle between two unit vectors with this cosine, as a share of a half turn, seen from a point
// at the given distances.
double share_of_turn(double cosine, double to_a, double to_b) {
  const double chord_squared = 2 - 2 * cosine;
  const double product = 2 * to_a * to_b;
  if (product == 0) return 1;
  const double seen = (to_a * to_a + to_b * to_b - chord_squared) / product;
  return std::acos(std::clamp(seen, -1.0, 1.0)) / std::numbers::pi;
}

}  // namespace

UnitVectors::UnitVectors(const FeatureTable& table)
    : size_(table.size()),
      padded_((table.dimensions + kLanes - 1) / kLanes * kLanes),
      values_(size_ * padded_) {
  tbb::parallel_for(std::size_t{0}, size_, [&](std::size_t row) {
    const std::span out = std::span(values_).subspan(row * padded_, table.dimensions);
    table.read_elements(row, out);
    double squares = 0;
    for (const float value : out) squares += double{value} * double{value};
    const double length = std::sqrt(squares);
    for (float& value : out) value = static_cast<float>(double{value} / length);
  });
}

float UnitVectors::cosine(std::size_t a, std::size_t b) const noexcept {
  return std::clamp(dot((*this)[a], (*this)[b]), -1.0F, 1.0F);
}

Viewpoint seen_from_origin(const UnitVectors& vectors) {
  return {std::vector<float>(vectors.padded()), std::vector<float>(vectors.size(), 1.0F)};
}

Viewpoint seen_from_mean(const UnitVectors& vectors) {
  std::vector<double> sums(vectors.padded());
  for (std::size_t row = 0; row < vectors.size(); ++row) {
    const auto vector = vectors[row];
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += double{vector[i]};
  }
  Viewpoint mean;
  const double rows = std::max(1.0, static_cast<double>(vectors.size()));
  for (const double sum : sums) mean.point.push_back(static_cast<float>(sum / rows));
  const double square = double{dot(mean.point, mean.point)};
  mean.distances.resize(vectors.size());
  tbb::parallel_for(std::size_t{0}, vectors.size(), [&](std::size_t row) {
    const double squared = 1 - 2 * double{dot(vectors[row], mean.point)} + square;
    mean.distances[row] = static_cast<float>(std::sqrt(std::max(0.0, squared)));
  });
  return mean;
}

CodeColumn project(const UnitVectors& vectors, const Viewpoint& from, std::uint64_t seed) {
  const std::size_t padded = vectors.padded();
  const std::vector<float> planes = planes_of(padded, seed);
  const auto plane = [&](std::size_t i) { return std::span(planes).subspan(i * padded, padded); };
  std::array<float, kPlanes> of_point{};
  for (std::size_t i = 0; i < kPlanes; ++i) of_point[i] = dot(plane(i), from.point);
  CodeColumn codes;
  codes.hash = "projections";
  codes.bits = kProjections;
  codes.words.resize(vectors.size() * codes.words_per_code());
  tbb::parallel_for(std::size_t{0}, vectors.size(), [&](std::size_t row) {
    std::uint64_t* const words = codes.words.data() + row * codes.words_per_code();
    for (std::size_t i = 0; i < kPlanes; ++i) {
      const std::uint64_t side = dot(vectors[row], plane(i)) >= of_point[i] ? 1 : 0;
      words[i / 64] |= side << (63 - i % 64);
    }
  });
  return codes;
}

int radius_for(std::span<const float> distances, double cosine, double recall) {
  constexpr std::size_t kSteps = 1024;  // per half turn, rounded up
  std::vector<double> rows(kSteps + 1);
  for (const float distance : distances) {
    const double share = share_of_turn(cosine, double{distance}, double{distance});
    ++rows[static_cast<std::size_t>(std::ceil(share * kSteps))];
  }
  const double wanted = recall * static_cast<double>(distances.size());
  for (int radius = 0; radius < kProjections; ++radius) {
    double found = 0;
    for (std::size_t step = 0; step <= kSteps; ++step) {
      if (rows[step] == 0) continue;
      found +=
          rows[step] * binomial_at_most(radius, kProjections, static_cast<double>(step) / kSteps);
    }
    if (found >= wanted) return radius;
  }
  return kProjections;
}

ProjectionPlan plan_projections(const UnitVectors& vectors, const Viewpoint& from,
                                std::span<const std::uint32_t> rows, double cosine, double recall,
                                std::uint64_t seed) {
  constexpr int kDrawn = 4096;
  std::vector<float> distances;
  for (const std::uint32_t row : rows) distances.push_back(from.distances[row]);
  ProjectionPlan plan{.radius = radius_for(distances, cosine, recall)};
  CounterRng rng(seed, 1, 0, RandomUse::kStudy);
  for (int i = 0; i < kDrawn; ++i) {
    const std::uint32_t a = rows[rng.below(static_cast<std::uint32_t>(rows.size()))];
    const std::uint32_t b = rows[rng.below(static_cast<std::uint32_t>(rows.size()))];
    const double share = share_of_turn(double{vectors.cosine(a, b)}, double{from.distances[a]},
                                       double{from.distances[b]});
    plan.candidates += binomial_at_most(plan.radius, kProjections, share) / kDrawn;
  }
  return plan;
}

}  // namespace winnow::dedup

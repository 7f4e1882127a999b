#include "dedup/features/outliers.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>

namespace winnow::dedup {
namespace {

// The sum of the unit vectors of a class.
struct ClassSum {
  std::vector<double> sum;
  std::size_t rows = 0;
};

std::vector<ClassSum> sums_of(const UnitVectors& vectors, std::span<const std::int32_t> labels,
                              std::size_t classes) {
  std::vector<ClassSum> sums(classes, {std::vector<double>(vectors.padded()), 0});
  for (std::size_t row = 0; row < vectors.size(); ++row) {
    if (labels[row] < 0) continue;
    ClassSum& of = sums[static_cast<std::size_t>(labels[row])];
    const auto vector = vectors[row];
    for (std::size_t i = 0; i < vector.size(); ++i) of.sum[i] += double{vector[i]};
    ++of.rows;
  }
  return sums;
}

// 1 - cosine between a vector and the mean of a class, without the vector itself if it is `among`
// its rows.
double distance_to(const ClassSum& of, std::span<const float> vector, bool among) {
  double product = 0;
  double squares = 0;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    const double mean = of.sum[i] - (among ? double{vector[i]} : 0.0);
    product += mean * double{vector[i]};
    squares += mean * mean;
  }
  return squares > 0 ? std::max(0.0, 1 - product / std::sqrt(squares)) : 1;
}

}  // namespace

std::vector<float> neighbour_distances(const NearestRows& nearest) {
  std::vector<float> distances;
  for (std::size_t row = 0; row < nearest.rows; ++row) {
    const auto rows = nearest[row];
    distances.push_back(rows.empty() ? 0.0F : std::max(0.0F, 1 - rows.back().cosine));
  }
  return distances;
}

std::vector<float> class_distances(const UnitVectors& vectors, std::span<const std::int32_t> labels,
                                   std::size_t classes) {
  const std::vector<ClassSum> sums = sums_of(vectors, labels, classes);
  std::vector<float> distances(vectors.size());
  tbb::parallel_for(std::size_t{0}, vectors.size(), [&](std::size_t row) {
    const std::int32_t label = labels[row];
    if (label >= 0 && sums[static_cast<std::size_t>(label)].rows > 1) {
      distances[row] = static_cast<float>(
          distance_to(sums[static_cast<std::size_t>(label)], vectors[row], /*among=*/true));
      return;
    }
    double nearest = 2;
    bool any = false;
    for (std::size_t other = 0; other < classes; ++other) {
      if (sums[other].rows == 0 || static_cast<std::int32_t>(other) == label) continue;
      nearest = std::min(nearest, distance_to(sums[other], vectors[row], /*among=*/false));
      any = true;
    }
    distances[row] = any ? static_cast<float>(nearest) : 0.0F;
  });
  return distances;
}

std::vector<float> outlier_distances(const NearestRows& nearest, const UnitVectors& vectors,
                                     std::span<const std::int32_t> labels, std::size_t classes) {
  std::vector<float> distances = neighbour_distances(nearest);
  if (classes == 0) return distances;
  const std::vector<float> to_class = class_distances(vectors, labels, classes);
  for (std::size_t row = 0; row < distances.size(); ++row) distances[row] *= to_class[row];
  return distances;
}

}  // namespace winnow::dedup

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dedup/features/neighbours.h"
#include "dedup/features/unit_vectors.h"

namespace winnow::dedup {

// Distance of each row from the others: 1 - cosine to the last of its nearest rows; 0 if there is
// no other row.
// A few equal rows therefore do not hide each other.
// Source  Sun, Ming, Zhu and Li, "Out-of-Distribution Detection with Deep Nearest Neighbors" (2022)
std::vector<float> neighbour_distances(const NearestRows& nearest);

// Distance of each row from its class: 1 - cosine to the mean of the class's other rows.
// A row without label, or alone in its class, gets the distance to the nearest class; 0 if there is
// none.
// labels  A class in [0, classes) for each row, or -1.
std::vector<float> class_distances(const UnitVectors& vectors, std::span<const std::int32_t> labels,
                                   std::size_t classes);

// The product of neighbour_distances() and class_distances(); neighbour_distances() alone if
// `classes` is 0.
// A wrong label makes a row far from its class, but not from its nearest rows. A rare kind of a
// class is far from its nearest rows, but not from its class.
std::vector<float> outlier_distances(const NearestRows& nearest, const UnitVectors& vectors,
                                     std::span<const std::int32_t> labels, std::size_t classes);

}  // namespace winnow::dedup

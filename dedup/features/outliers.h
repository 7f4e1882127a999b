#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dedup/features/neighbours.h"
#include "dedup/features/unit_vectors.h"

namespace winnow::dedup {

// How far each row is from all others: 1 - cosine to the last of its nearest rows; 0 where there is
// no other row. So fewer equal rows than are asked for do not hide each other.
// Source  Sun, Ming, Zhu and Li, "Out-of-Distribution Detection with Deep Nearest Neighbors" (2022)
std::vector<float> neighbour_distances(const NearestRows& nearest);

// How far each row is from its class: 1 - cosine to the mean of the class's other rows. Of a row
// without label, or whose label no other has, to the class that is nearest; 0 where there is none.
// `labels`: of each row a class in [0, classes), or -1.
std::vector<float> class_distances(const UnitVectors& vectors, std::span<const std::int32_t> labels,
                                   std::size_t classes);

// How far each row is from what it should be near to: the product of both; where `classes` is 0,
// neighbour_distances() alone. A wrong label makes a row far from its class, and not from its
// nearest; a rare kind of a class is far from its nearest, and not from its class.
std::vector<float> outlier_distances(const NearestRows& nearest, const UnitVectors& vectors,
                                     std::span<const std::int32_t> labels, std::size_t classes);

}  // namespace winnow::dedup

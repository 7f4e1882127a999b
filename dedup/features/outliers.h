#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dedup/features/neighbours.h"
#include "dedup/features/unit_vectors.h"

namespace winnow::dedup {

// For each row its distance from the others: 1 - cosine to the last of its nearest rows. 0 if there
// is no other row.
// The last one is taken so that a few copies of an outlier do not hide each other.
// Source  Sun, Ming, Zhu and Li, "Out-of-Distribution Detection with Deep Nearest Neighbors" (2022)
std::vector<float> neighbour_distances(const NearestRows& nearest);

// For each row its distance from its class: 1 - cosine to the mean of the other rows of the class.
// Without a label, or alone in its class: the distance from the nearest class, 0 if there is none.
// labels  For each row a class in [0, classes), or -1: no label.
std::vector<float> class_distances(const UnitVectors& vectors, std::span<const std::int32_t> labels,
                                   std::size_t classes);

// For each row an outlier score: the product of neighbour_distances() and class_distances(), or
// neighbour_distances() alone if `classes` is 0.
// Both factors are needed. An image with a wrong label is far from its class, but near other
// images. An image of a rare kind is far from other images, but not from its class.
std::vector<float> outlier_distances(const NearestRows& nearest, const UnitVectors& vectors,
                                     std::span<const std::int32_t> labels, std::size_t classes);

}  // namespace winnow::dedup

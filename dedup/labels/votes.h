#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dedup/features/neighbours.h"

namespace winnow::dedup {

// What the nearest images by features say of an image's label, in place of a net: the share of each
// class among those that carry one, each class having half a vote beforehand. Pure.
//
// in   `labels`: of each row a class in [0, classes), or -1: it has none and no vote
// out  (rows, classes), as JudgedLabels takes it: no share is 0, and all are equal where none votes
// why  Zhu, Dong and Liu, "Detecting Corrupted Labels Without Training a Model to Predict" (2022)
std::vector<float> neighbour_votes(const NearestRows& nearest, std::span<const std::int32_t> labels,
                                   std::size_t classes);

}  // namespace winnow::dedup

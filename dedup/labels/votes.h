#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dedup/features/neighbours.h"

namespace winnow::dedup {

// Class probabilities of each image by the labels of its nearest images (k-nearest-neighbour vote),
// without a classifier: the share of each class among the labelled neighbours, with half a vote
// added for each class. Pure.
//
// in      `labels`: for each row a class in [0, classes), or -1: no label and no vote.
// out     Shape (rows, classes), as JudgedLabels takes it. No share is 0. All are equal if no
//         neighbour has a label.
// source  Zhu, Dong and Liu, "Detecting Corrupted Labels Without Training a Model to Predict"
//         (2022)
std::vector<float> neighbour_votes(const NearestRows& nearest, std::span<const std::int32_t> labels,
                                   std::size_t classes);

}  // namespace winnow::dedup

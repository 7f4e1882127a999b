#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dedup/features/neighbours.h"

namespace winnow::dedup {

// Class probabilities of an image from its nearest images by features, without a net: the share of
// each class among the labelled ones, with half a prior vote for each class. Pure.
//
// in      `labels`: a class in [0, classes) for each row, or -1: no label and no vote.
// out     (rows, classes), as for JudgedLabels. No share is 0; all are equal if no neighbour votes.
// source  Zhu, Dong and Liu, "Detecting Corrupted Labels Without Training a Model to Predict"
//         (2022)
std::vector<float> neighbour_votes(const NearestRows& nearest, std::span<const std::int32_t> labels,
                                   std::size_t classes);

}  // namespace winnow::dedup

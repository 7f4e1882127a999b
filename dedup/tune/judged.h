#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/binomial.h"
#include "dedup/review/review.h"
#include "dedup/table/fingerprints.h"
#include "dedup/tune/curve.h"

namespace winnow::dedup {

// Statistics of one threshold, from reviewed pairs.
struct JudgedPoint {
  int threshold = 0;
  std::uint64_t judged = 0;         // reviewed pairs within it
  std::uint64_t duplicates = 0;     // duplicates among them
  std::optional<double> precision;  // nullopt if no pair within it was reviewed
  Interval interval;                // for the precision, with 95 % confidence
  // Relative recall: the share of the duplicates within the last threshold that this one finds,
  // estimated by precision.
  std::optional<double> found;
};

struct JudgedCurve {
  std::string hash;
  // Whether the pairs were drawn (PairSample); then strata are weighted by their sizes. Otherwise
  // reviewed pairs are treated as a random sample of all within each threshold.
  bool sampled = false;
  std::vector<JudgedPoint> points;  // thresholds 0, 1, ... up to the last one with a reviewed pair
};

// Precision of a curve's thresholds, from reviews.
//
// Judged       Each pair of images in a judgement in force (duplicate or different); the latest one
//              counts. Of a judgement of more than 1000 images, the first 1000.
// Sampled      If a review has a sample of the curve's hash; the last such sample. Pairs of one
//              file are duplicates. For a stratum without a judged pair, the precision is assumed
//              to be like that of the others, and the interval assumes nothing. The interval uses
//              the effective sample size (Kish 1965), with fractional hits and trials.
// Not sampled  Judged pairs with both images in the table. Distances are those of their codes, 0
//              for equal pixels. Images below the curve's quality are left out otherwise.
// columns      Of the curve's table.
// Out          No points if nothing was judged.
JudgedCurve judge_curve(const Curve& curve, const ColumnSource& columns,
                        std::span<const Review> reviews);

// The largest threshold such that it and all lower ones have at least this precision by reviewed
// pairs. If several cover the same reviewed pairs, the smallest of these. nullptr if there is none.
const JudgedPoint* choose_judged(const JudgedCurve& curve, double precision);

}  // namespace winnow::dedup

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

// Statistics of one threshold, from pairs that people reviewed.
struct JudgedPoint {
  int threshold = 0;
  std::uint64_t judged = 0;      // reviewed pairs within it
  std::uint64_t duplicates = 0;  // duplicates among them
  // Share of duplicates; nullopt if no pair within the threshold was reviewed.
  std::optional<double> precision;
  Interval interval;  // 95 % confidence interval of the precision
  // Relative recall: of the duplicates within the last threshold, the share that is within this
  // one. Estimated by precision times pairs.
  std::optional<double> found;
};

struct JudgedCurve {
  std::string hash;
  // Whether the reviewed pairs were drawn by draw_pairs() (PairSample): then strata are weighted by
  // their sizes. Otherwise they are treated as a random sample of the pairs within each threshold.
  bool sampled = false;
  // Points for thresholds 0, 1, ... up to the last one with a reviewed pair.
  std::vector<JudgedPoint> points;
};

// Estimates the precision of a curve's thresholds from reviews.
//
// Judged       Each pair of images that a judgement in force calls duplicate or different; the
//              latest judgement counts. Of a judgement about more than 1000 images, the first 1000
//              count.
// Sampled      If a review has a sample drawn for the curve's hash, the last such sample is used.
//              Pairs of equal files are duplicates. A stratum without a judged pair is assumed to
//              have the precision of the others, and the interval allows any. The interval uses the
//              effective sample size (Kish 1965), with fractional hits and trials.
// Not sampled  Judged pairs with both images in the table are used. Distances are those of their
//              codes, 0 for equal pixels. Other images below the curve's quality are left out.
// columns      The columns of the table that the curve was measured on.
// Out          No points if no pair was judged.
JudgedCurve judge_curve(const Curve& curve, const ColumnSource& columns,
                        std::span<const Review> reviews);

// The largest threshold such that it and all lower ones have at least this precision by reviewed
// pairs. If several contain the same reviewed pairs, the smallest of them. nullptr if there is
// none.
const JudgedPoint* choose_judged(const JudgedCurve& curve, double precision);

}  // namespace winnow::dedup

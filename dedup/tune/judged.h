#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dedup/fingerprints.h"
#include "dedup/review/review.h"
#include "dedup/tune/binomial.h"
#include "dedup/tune/curve.h"

namespace winnow::dedup {

// What one threshold comes to, by pairs that people judged.
struct JudgedPoint {
  int threshold = 0;
  std::uint64_t judged = 0;         // pairs within it
  std::uint64_t duplicates = 0;     // of these
  std::optional<double> precision;  // nothing where nothing within it was judged
  Interval interval;                // it lies in, with 95 % confidence
  // Recall: of the duplicates that the last threshold finds, by precision, those that this finds.
  std::optional<double> found;
};

struct JudgedCurve {
  std::string hash;
  // The pairs were drawn (PairSample), and strata are weighed by what they stand for. Else they
  // are taken as they were judged: as if drawn from all within each threshold.
  bool sampled = false;
  std::vector<JudgedPoint> points;  // thresholds 0, 1, ... up to the last that was judged
};

// Precision of the thresholds of a curve, by reviews. A pair is judged that two images of a
// judgement in force make, duplicate or different; what was said of it last counts. Of a judgement
// of more than 1000 images, the first 1000.
//
// Sampled     where a review has a sample of the curve's hash, the last such. Pairs of one file are
//             duplicates. Of a stratum without a judged pair the interval assumes nothing, and the
//             precision, that it is like the others. The interval is of the effective sample size
//             (Kish 1965), hits and trials being fractions.
// Not sampled  judged pairs of which the table has both images. Bits are between their codes, 0 for
//             equal pixels; images of less quality than the curve's are left out elsewhere.
//
// `columns`: of the table that the curve is of. No points where nothing was judged.
JudgedCurve judge_curve(const Curve& curve, const ColumnSource& columns,
                        std::span<const Review> reviews);

// The largest threshold up to which all have at least this precision, by judged pairs; of those
// within which the same pairs were judged the smallest. Nothing where there is none.
const JudgedPoint* choose_judged(const JudgedCurve& curve, double precision);

}  // namespace winnow::dedup

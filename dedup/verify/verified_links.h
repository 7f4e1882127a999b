#pragma once

#include <memory>

#include "dedup/deduplicate.h"
#include "dedup/verify/calibrate.h"
#include "dedup/verify/verify.h"

namespace winnow::dedup {

// Links between rows that show one picture, in place of links by codes.
struct VerifiedLinks {
  Verification verification;
  Calibration calibration;
  double least_probability = 0;
  // Both sorted: pairs that are one picture, and pairs near by codes that have too few details to
  // tell, which the codes decide.
  std::vector<Edge> edges;
  std::uint64_t refused = 0;  // pairs near by codes that are different pictures
};

// Verifies what is near by codes, as `options` has it, and finds what is not.
//
// Rows     those that match by codes of options.hash (matchable_rows); with kExact: of any quality
//          above 0
// links    a search as deduplicate() takes it; empty: find_edges
// how      with most_false: links must be so probable that no more pairs of strangers are expected
//          among them, and as probable as least_probability
// Memory   some 1.2 KB a picture, beside the thumbnails that are being compared
// Throws   UsageError where there are no thumbnails; StoppedError
VerifiedLinks verify_links(const ColumnSource& columns, const ThumbnailSource& thumbnails,
                           const Options& options, const LinkSource& links,
                           const VerifyOptions& how);

// Gives deduplicate() these links, whatever it asks for, between the rows it asks for. They are as
// far apart as their codes, and at most as the threshold.
LinkSource links_of(std::shared_ptr<const VerifiedLinks> verified);

}  // namespace winnow::dedup

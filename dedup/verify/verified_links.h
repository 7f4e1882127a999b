#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "dedup/decisions/deduplicate.h"
#include "dedup/verify/calibrate.h"
#include "dedup/verify/false_pairs.h"
#include "dedup/verify/verify.h"

namespace winnow::dedup {

// Links for deduplicate() found by comparing pictures: pairs of rows verified to show one picture.
struct VerifiedLinks {
  Verification verification;
  Calibration calibration;
  KeptPairs kept;
  // The links, sorted: pairs that are one picture, without those of a collage and its parts, and
  // pairs near by hash codes with too little detail to compare.
  std::vector<Edge> edges;
  std::vector<std::uint32_t> collages;  // rows, ascending (collages.h)
  std::uint64_t looked_closer = 0;  // number of pairs compared by pictures larger than thumbnails
  // Pairs whose larger pictures were not read, because others were more promising.
  std::uint64_t skipped = 0;
  // Pairs that look alike but are no copies; sorted by rows. Of plain pictures: more differs than
  // in a copy (look_closer). Of others: different pictures are as likely to reach their probability
  // (KeptPairs::doubtful).
  std::vector<VerifiedPair> look_alikes;
  std::uint64_t refused = 0;  // number of pairs near by hash codes that are different pictures
};

// Verifies by comparing pictures: checks the pairs that are near by hash codes, and finds others.
//
// Rows           Those that may match by codes of options.hash (matchable_rows). With kExact: of
//                any quality above 0.
// links          A search as for deduplicate(); empty: find_edges().
// how            With most_false, links must meet all limits of leave_out_false().
// closer         Pairs in doubt and of plain pictures are examined again (look_closer), by pictures
//                of how.closer if there are any.
// before_search  Called before the search, with the input of a cost estimate; may be empty.
// Memory         About 1.2 KB a picture, besides the thumbnails being compared.
// Errors         UsageError if there are no thumbnails; StoppedError.
using BeforeSearch = std::function<void(std::span<const std::uint32_t> rows,
                                        const PictureSource& pictures, std::span<const Edge> near,
                                        const MatchModel& model, const VerifyOptions& how)>;
VerifiedLinks verify_links(const ColumnSource& columns, const ThumbnailSource& thumbnails,
                           const Options& options, const LinkSource& links,
                           const VerifyOptions& how, const BeforeSearch& before_search = {});

// The verified pair of two rows, given in either order; nullptr if there is none.
// pairs  Sorted by rows.
const VerifiedPair* find_pair(std::span<const VerifiedPair> pairs, std::uint32_t row,
                              std::uint32_t other);
const VerifiedPair* find_pair(const VerifiedLinks& verified, std::uint32_t row,
                              std::uint32_t other);

// In words, how the picture of row `copy` differs from that of row `kept`. `pair` is the verified
// pair of both; `sizes` has widths_px and heights_px.
std::string transformation_words(const VerifiedPair& pair, const Fingerprints& sizes,
                                 std::uint32_t kept, std::uint32_t copy);

// A source of links for deduplicate(), and the results of comparing pictures that they come from.
struct LinksWithEvidence {
  LinkSource source;
  std::shared_ptr<const VerifiedLinks> verified = {};  // nullptr: links by codes or features
};

// All verified pairs, including those of collages, as edges; sorted.
std::vector<Edge> listed_pairs(const VerifiedLinks& verified);

// Makes a source that gives deduplicate() the verified links between the requested rows, whatever
// the threshold. Distances are those of the hash codes, but no more than the threshold.
LinkSource links_of(std::shared_ptr<const VerifiedLinks> verified);
// Makes a source of these links, which may be in any order; borrows them.
LinkSource links_of(std::span<const Edge> links);

}  // namespace winnow::dedup

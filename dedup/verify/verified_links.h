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

// Links between rows verified to show one picture, in place of links by codes.
struct VerifiedLinks {
  Verification verification;
  Calibration calibration;
  KeptPairs kept;
  // Sorted. Pairs that are one picture, without those of a collage and its parts; and pairs near by
  // codes with too little detail, which the codes decide.
  std::vector<Edge> edges;
  std::vector<std::uint32_t> collages;  // rows, ascending (collages.h)
  std::uint64_t looked_closer = 0;      // pairs decided by larger pictures
  // Pairs whose larger pictures were not read, because others were more promising.
  std::uint64_t skipped = 0;
  // Pairs that look alike but are not copies. Plain pictures: more differs than in a copy
  // (look_closer). Others: different pictures are equally probable (KeptPairs::doubtful). Sorted by
  // rows.
  std::vector<VerifiedPair> look_alikes;
  std::uint64_t refused = 0;  // pairs near by codes that are different pictures
};

// Verifies the pairs that are near by codes, as `options` says, and finds pairs that are not near.
//
// Rows           Those that match by codes of options.hash (matchable_rows). With kExact: of any
//                quality above 0.
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

// The verified link of two rows, in either order; nullptr if there is none.
// pairs  Sorted by rows.
const VerifiedPair* find_pair(std::span<const VerifiedPair> pairs, std::uint32_t row,
                              std::uint32_t other);
const VerifiedPair* find_pair(const VerifiedLinks& verified, std::uint32_t row,
                              std::uint32_t other);

// In words, how the picture of row `copy` differs from that of row `kept`. `pair` links them;
// `sizes` has widths_px and heights_px.
std::string transformation_words(const VerifiedPair& pair, const Fingerprints& sizes,
                                 std::uint32_t kept, std::uint32_t copy);

// A source of links, with its evidence.
struct LinksWithEvidence {
  LinkSource source;
  std::shared_ptr<const VerifiedLinks> verified = {};  // nullptr: links by codes or features
};

// All pairs, including those of collages; sorted.
std::vector<Edge> listed_pairs(const VerifiedLinks& verified);

// A source that gives deduplicate() these links between the requested rows, whatever the threshold.
// Distances are those of the codes, limited to the threshold.
LinkSource links_of(std::shared_ptr<const VerifiedLinks> verified);
// A source of known links in any order; borrowed.
LinkSource links_of(std::span<const Edge> links);

}  // namespace winnow::dedup

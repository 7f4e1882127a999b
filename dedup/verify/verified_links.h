#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "dedup/deduplicate.h"
#include "dedup/verify/calibrate.h"
#include "dedup/verify/false_pairs.h"
#include "dedup/verify/verify.h"

namespace winnow::dedup {

// Links between rows that show one picture, in place of links by codes.
struct VerifiedLinks {
  Verification verification;
  Calibration calibration;
  KeptPairs kept;
  // Sorted. Pairs that are one picture, but for those of a collage and what it shows; and pairs
  // near by codes that have too few details to tell, which the codes decide.
  std::vector<Edge> edges;
  std::vector<std::uint32_t> collages;  // rows, ascending (collages.h)
  std::uint64_t looked_closer = 0;      // pairs that larger pictures decided
  std::uint64_t passed_over = 0;        // pairs for which none were read, as others promised more
  // Pairs that are alike and no copies: in plain ones more differs than in a copy (look_closer), of
  // others different pictures are as probable (KeptPairs::doubtful). Sorted by rows.
  std::vector<VerifiedPair> look_alikes;
  std::uint64_t refused = 0;  // pairs near by codes that are different pictures
};

// Verifies what is near by codes, as `options` has it, and finds what is not.
//
// Rows     those that match by codes of options.hash (matchable_rows); with kExact: of any quality
//          above 0
// links    a search as deduplicate() takes it; empty: find_edges
// how      with most_false: links must be so probable that no more pairs of strangers are expected
//          among them, no more show by their labels, and as probable as least_probability; and
//          those that codes do not bring together so probable that look-alikes are left out
//          pairs in doubt and of plain pictures are looked at once more (look_closer), by
//          pictures of `closer` where there is one
// Memory   some 1.2 KB a picture, beside the thumbnails that are being compared
// Throws   UsageError where there are no thumbnails; StoppedError
// foretell asked, before the search, what it will take; empty: nobody is
using Foretell = std::function<void(std::span<const std::uint32_t> rows,
                                    const PictureSource& pictures, std::span<const Edge> near,
                                    const MatchModel& model, const VerifyOptions& how)>;
VerifiedLinks verify_links(const ColumnSource& columns, const ThumbnailSource& thumbnails,
                           const Options& options, const LinkSource& links,
                           const VerifyOptions& how, const Foretell& foretell = {});

// The link of two rows that pictures told, in any order; nullptr where there is none. `pairs`:
// sorted by rows.
const VerifiedPair* find_pair(std::span<const VerifiedPair> pairs, std::uint32_t row,
                              std::uint32_t other);
const VerifiedPair* find_pair(const VerifiedLinks& verified, std::uint32_t row,
                              std::uint32_t other);

// In words, what was done to the picture of row `kept` to get that of `copy`, which `pair` links.
// `sizes` has widths_px and heights_px.
std::string transformation_words(const VerifiedPair& pair, const Fingerprints& sizes,
                                 std::uint32_t kept, std::uint32_t copy);

// Links, and what told them.
struct ToldLinks {
  LinkSource source;
  std::shared_ptr<const VerifiedLinks> verified = {};  // empty: codes or features did
};

// All pairs, those of collages too; sorted.
std::vector<Edge> listed_pairs(const VerifiedLinks& verified);

// Gives deduplicate() these links, whatever it asks for, between the rows it asks for. They are as
// far apart as their codes, and at most as the threshold.
LinkSource links_of(std::shared_ptr<const VerifiedLinks> verified);
// The same of links that are known, in any order; borrowed.
LinkSource links_of(std::span<const Edge> links);

}  // namespace winnow::dedup

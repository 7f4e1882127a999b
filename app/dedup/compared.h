#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "app/dedup/choice.h"
#include "app/dedup/features.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/features/feature_table.h"
#include "dedup/ranks/shared_search.h"
#include "dedup/tune/curve.h"
#include "dedup/verify/calibrate.h"
#include "dedup/verify/verified_links.h"
#include "dedup/verify/verify.h"
#include "pipeline/export/thumbnails.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

// The data that images can be compared by, besides their columns.
struct Images {
  std::vector<std::string> hashes;      // stored hashes; auto chooses among them
  dedup::ThumbnailSource thumbnails;    // empty: no thumbnails, so pictures are not compared
  pipeline::PictureOf picture_of = {};  // larger pictures; empty: thumbnails decide alone
  // Features by name; empty: no features are stored.
  std::function<dedup::FeatureTable(const std::string& name)> features_of = {};
  // Stored landmarks (VerifyOptions::landmarks) and their average number per picture; empty:
  // landmarks are computed.
  std::function<dedup::LandmarkTable(std::span<const std::uint32_t> rows)> landmarks = {};
  std::function<double()> landmarks_a_picture = {};
};
// The images of a cache, which must outlive the result. `picture_of`: pictures of the cache, or of
// the data set that is read in place.
Images images_of(const pipeline::Cache& cache, pipeline::PictureOf picture_of);

// How images are compared: by codes, or by features.
struct ComparedBy {
  ChoiceOptions choice = {};
  FeatureOptions features = {};  // replace codes if given
};

// Decides which images are the same picture, for every verb. Reports what was chosen and the
// result.
//
// By       features, or codes that the flags or the images choose (settle_choice).
// Verify   with --verify, or if verifies_unasked(), pictures are compared as well.
// In       work: from with_shared_work(). columns: of the images.
// Out      the links to use. `options` gets the choice; `columns` get features in place of codes.
// Throws   UsageError: no thumbnails, or no such features; StoppedError.
dedup::LinksWithEvidence settle_links(const Session& session, const ComparedBy& by,
                                      const Images& images, const dedup::SharedWork& work,
                                      dedup::ColumnSource& columns, dedup::Options& options);

// Whether labelled pairs show one picture, by their thumbnails; empty if there are no thumbnails.
// Labels then count against a threshold only if the pictures do not contradict them.
dedup::ShownPairs shown_by(const Session& session, const Images& images,
                           const dedup::ColumnSource& columns);

// Whether pictures are compared although no flag asks for it. Otherwise it says why not.
//
// True if  no flag chooses codes, there are at most kMostUnasked images (about 100 seconds of a
//          core), and the images are large or have kLeastDetails landmarks on average. Photos have
//          about 45, digits 5.
inline constexpr std::uint64_t kMostUnasked = 100'000;
inline constexpr double kLeastDetails = 16;
bool verifies_unasked(const Session& session, const ChoiceOptions& choice,
                      const dedup::ColumnSource& columns, const Images& images);
// The reason why pictures of these rows are not compared unless a flag asks for it, as a sentence;
// empty: they are compared.
std::string why_not_looked_at(std::span<const std::uint32_t> rows,
                              const dedup::ColumnSource& columns, const Images& images);

// Reads pictures of a table's rows that are larger than their thumbnails, by `picture_of`; empty if
// `picture_of` is.
dedup::CloserSource closer_pictures(const pipeline::PictureOf& picture_of,
                                    const dedup::ColumnSource& columns);

// Options with the least probability of --least-probability, else the defaults.
dedup::VerifyOptions verify_options(const ChoiceOptions& choice);

// Reports a verification: rejected pairs, pairs left to their codes, the probability of the others,
// and the expected number of false ones. Look-alikes, which stay, come first.
struct Verified {
  dedup::VerifyCounts counts;
  std::uint64_t refused = 0;
  std::uint64_t undecided = 0;
  dedup::KeptPairs kept;
  std::uint64_t non_duplicates = 0;  // pairs of different pictures that the estimate is based on
  std::uint64_t looked_closer = 0;
  std::uint64_t skipped = 0;
  std::uint64_t look_alikes = 0;
  std::uint64_t collages = 0;
  bool is_answer = false;  // an answer to a query: it lists no look-alikes and removes nothing
};
void tell_verified(const Session& session, const Verified& what, const std::string& hash);

}  // namespace winnow::app

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

// What there is to compare images by, beside their columns.
struct Images {
  std::vector<std::string> hashes;      // that are stored; auto chooses among them
  dedup::ThumbnailSource thumbnails;    // empty: there are none, and pictures are not compared
  pipeline::PictureOf picture_of = {};  // larger ones; empty: thumbnails decide alone
  // Of a name; empty: no features are kept.
  std::function<dedup::FeatureTable(const std::string& name)> features_of = {};
  // Those that are known (VerifyOptions::landmarks), and how many a picture has, on average; empty:
  // they are found.
  std::function<dedup::LandmarkTable(std::span<const std::uint32_t> rows)> landmarks = {};
  std::function<double()> landmarks_a_picture = {};
};
// Those of a cache, which must outlive them. `picture_of`: its own, or those of the data set that
// is looked at in place.
Images images_of(const pipeline::Cache& cache, pipeline::PictureOf picture_of);

// What images are compared by.
struct ComparedBy {
  ChoiceOptions choice = {};
  FeatureOptions features = {};  // in place of codes, where there are any
};

// Which images are the same picture: what every verb goes by that decides it. They are compared as
// flags say: by features, or by codes that the flags or the images choose (settle). --verify, or
// verifies_unasked(), puts either to the pictures. Puts it to `options`, and says what was chosen
// and what came of it.
//
// work     as with_shared_work() gives it
// columns  of the images; with features they get these in place of codes
// Returns the links to go by.
// Throws   UsageError where there are no thumbnails or no such features; StoppedError
dedup::LinksWithEvidence settle_links(const Session& session, const ComparedBy& by,
                                      const Images& images, const dedup::SharedWork& work,
                                      dedup::ColumnSource& columns, dedup::Options& options);

// What thumbnails show of labelled pairs, so that labels count against a threshold only as far as
// pictures do not contradict them; empty where there are none.
dedup::ShownPairs shown_by(const Session& session, const Images& images,
                           const dedup::ColumnSource& columns);

// Whether pictures are looked at where no flag says so: where none says what codes to compare, for
// up to so many images, which take some 100 seconds of a core, that are large or have so many
// landmarks each. Photos have about 45, digits 5. Of more and of others it says why not.
inline constexpr std::uint64_t kMostUnasked = 100'000;
inline constexpr double kLeastDetails = 16;
bool verifies_unasked(const Session& session, const ChoiceOptions& choice,
                      const dedup::ColumnSource& columns, const Images& images);
// Of no flags: why not these rows, a sentence; empty: they are looked at.
std::string why_not_looked_at(std::span<const std::uint32_t> rows,
                              const dedup::ColumnSource& columns, const Images& images);

// Larger pictures of the rows of a table; empty where there are none.
dedup::CloserSource closer_pictures(const pipeline::PictureOf& picture_of,
                                    const dedup::ColumnSource& columns);

// How probable links must be, as --least-probability has it; the rest as it is by default.
dedup::VerifyOptions verify_options(const ChoiceOptions& choice);

// Says what verification came to: of pairs near by a hash, how many were refused, and how many are
// left to their codes; how probable the rest are, and how many false ones to expect. Look-alikes,
// which stay, come first.
struct Verified {
  dedup::VerifyCounts counts;
  std::uint64_t refused = 0;
  std::uint64_t undecided = 0;
  dedup::KeptPairs kept;
  std::uint64_t strangers = 0;  // pairs of different pictures that say so
  std::uint64_t looked_closer = 0;
  std::uint64_t passed_over = 0;
  std::uint64_t look_alikes = 0;
  std::uint64_t collages = 0;
  bool is_answer = false;  // to a query, which lists no look-alikes and lets none go
};
void tell_verified(const Session& session, const Verified& what, const std::string& hash);

}  // namespace winnow::app

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

// The data of images that can be compared, in addition to columns of fingerprints.
struct Images {
  std::vector<std::string> hashes;  // names of the stored hashes, from which `auto` chooses
  // Reads thumbnails; empty: none are stored, so pictures are not compared.
  dedup::ThumbnailSource thumbnails;
  // Reads larger pictures for doubtful pairs; empty: thumbnails decide.
  pipeline::PictureOf picture_of = {};
  // Reads the stored feature vectors of a given name; empty: none are stored.
  std::function<dedup::FeatureTable(const std::string& name)> features_of = {};
  // Reads stored landmarks (key points, VerifyOptions::landmarks), and their average number per
  // picture. Empty: landmarks are computed.
  std::function<dedup::LandmarkTable(std::span<const std::uint32_t> rows)> landmarks = {};
  std::function<double()> landmarks_a_picture = {};
};
// The images of a cache, which must outlive the result. `picture_of` reads pictures of the cache,
// or of the data set that is read in place.
Images images_of(const pipeline::Cache& cache, pipeline::PictureOf picture_of);

// How images are compared: by hash codes, or by feature vectors.
struct ComparedBy {
  ChoiceOptions choice = {};
  FeatureOptions features = {};  // feature vectors, which replace codes if given
};

// Finds the pairs of images that show the same picture. Every verb that deduplicates uses it. Tells
// the user what was chosen and what was found.
//
// By       feature vectors, or hash codes by given or chosen options (settle_choice)
// Verify   pictures are compared as well with --verify, or if verifies_unasked()
// work     from with_shared_work()
// columns  columns of the images' fingerprints; features replace the codes in them
// options  get the chosen hash and threshold
// Out      the pairs of images
// Throws   UsageError: no thumbnails, or no features of that name; StoppedError
dedup::LinksWithEvidence settle_links(const Session& session, const ComparedBy& by,
                                      const Images& images, const dedup::SharedWork& work,
                                      dedup::ColumnSource& columns, dedup::Options& options);

// A function that says whether two differently labelled images show one picture, by their
// thumbnails. Empty without thumbnails. With it, a pair with different labels counts as a false
// pair only if the pictures differ, too.
dedup::ShownPairs shown_by(const Session& session, const Images& images,
                           const dedup::ColumnSource& columns);

// Whether pictures are compared although no option asks for it. If not, the user is told why.
//
// True if  no option chooses hash codes; there are at most kMostUnasked images (about 100 s on one
//          core); and the images are large, or have kLeastDetails landmarks (key points) on
//          average. Photos have about 45, handwritten digits 5.
inline constexpr std::uint64_t kMostUnasked = 100'000;
inline constexpr double kLeastDetails = 16;
bool verifies_unasked(const Session& session, const ChoiceOptions& choice,
                      const dedup::ColumnSource& columns, const Images& images);
// The reason, as a sentence, why pictures of these rows are not compared by default. Empty: they
// are compared.
std::string why_not_looked_at(std::span<const std::uint32_t> rows,
                              const dedup::ColumnSource& columns, const Images& images);

// A function that reads pictures of a table's rows that are larger than thumbnails, by
// `picture_of`. Empty if `picture_of` is empty.
dedup::CloserSource closer_pictures(const pipeline::PictureOf& picture_of,
                                    const dedup::ColumnSource& columns);

// Options for comparing pictures, with the user's --least-probability or the default.
dedup::VerifyOptions verify_options(const ChoiceOptions& choice);

// Tells the user the results of comparing pictures: pairs rejected, pairs left to their codes, and
// how many of the others are expected to be false. Pairs that only look alike, which are not
// duplicates, come first.
struct Verified {
  dedup::VerifyCounts counts;
  std::uint64_t refused = 0;
  std::uint64_t undecided = 0;
  dedup::KeptPairs kept;
  // Number of pairs of different pictures from which the number of false pairs is estimated.
  std::uint64_t non_duplicates = 0;
  std::uint64_t looked_closer = 0;
  std::uint64_t skipped = 0;
  std::uint64_t look_alikes = 0;
  std::uint64_t collages = 0;
  // True for a query of an index: no look-alikes are listed, nothing is removed.
  bool is_answer = false;
};
void tell_verified(const Session& session, const Verified& what, const std::string& hash);

}  // namespace winnow::app

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "dedup/index/index.h"
#include "dedup/verify/calibrate.h"
#include "dedup/verify/closer_look.h"
#include "dedup/verify/false_pairs.h"
#include "dedup/verify/verify.h"

namespace winnow::dedup {

class PictureQuery;

// A row of a queried table and an image of an index that show the same picture, or parts of it.
struct PictureMatch {
  std::uint32_t row = 0;
  SampleId id = 0;             // in the index
  std::uint32_t distance = 0;  // bits between both codes; 0 for equal files or pixels
  // Probability that both show one picture; 1 for equal files or pixels. nullopt: there is too
  // little detail to compare, but the codes are near.
  std::optional<float> probability = {};
  friend bool operator==(const PictureMatch&, const PictureMatch&) = default;
};

struct PictureMatches {
  std::vector<PictureMatch> matches;  // sorted by row, then by falling probability, then by id
  VerifyCounts counts;
  KeptPairs kept;
  std::uint64_t refused = 0;    // number of pairs with near codes that show different pictures
  std::uint64_t undecided = 0;  // number of pairs with near codes and too little detail to compare
  std::uint64_t look_alikes = 0;  // number of pairs that look alike but are no copies (look_closer)
  std::uint64_t looked_closer = 0;  // number of pairs compared by pictures larger than thumbnails
};

// Some rows of a table, ascending; rows of equal pixels are represented by the first of them.
class EqualPixels {
 public:
  EqualPixels() = default;
  EqualPixels(const std::vector<Hash128>& pixel_hashes, std::span<const std::uint32_t> rows);

  const std::vector<std::uint32_t>& firsts() const noexcept { return firsts_; }  // ascending
  // All rows with the pixels of `first`, which represents them; includes `first`.
  std::vector<std::uint32_t> rows_like(std::uint32_t first) const;

 private:
  std::vector<std::uint32_t> firsts_;
  std::vector<Edge> copies_;  // pairs of a representative and another row of equal pixels; sorted
};

struct PictureMatchOptions {
  int threshold = 0;  // in bits; two codes up to this distance apart are near
  LeastQuality least_quality = {};
  PairDemand demand = {};
  CloserSource closer = {};  // larger pictures for rows of the index; empty: thumbnails only
  SearchOptions search = {};
};

// Finds the images of an index that show the same pictures as the rows of a table. The same
// verdicts as winnow dedup has for both in one cache, except for pairs that thumbnails leave in
// doubt. Rows of equal pixels are compared once.
//
// Landmarks    Those of the index come from StoredIndex::landmarks().
// Calibration  From StoredIndex::fitted(); fitted again if options have a least_quality.
// Memory       About 0.2 KB an image of the index, and 1.2 KB of mapped files.
// Errors       UsageError if there are no thumbnails, or as StoredIndex::find_matches();
//              StoppedError.
class PictureMatcher {
 public:
  PictureMatcher(const StoredIndex& index, PictureMatchOptions options);
  PictureMatcher(PictureMatcher&&) noexcept;
  PictureMatcher& operator=(PictureMatcher&&) = delete;
  ~PictureMatcher();

  const Calibration& calibration() const noexcept { return calibration_; }
  // How they were obtained.
  const StoredIndex::Landmarks& landmarks() const noexcept { return landmarks_; }

  // Finds the matches of a table's rows.
  // closer   Larger pictures for rows of the table; for the index see PictureMatchOptions::closer.
  // Threads  Call it from one thread at a time; it is parallel inside.
  PictureMatches find(const ColumnSource& table, const ThumbnailSource& thumbnails,
                      const CloserSource& closer = {});

 private:
  StoredIndex index_;
  PictureMatchOptions options_;
  Fingerprints table_;  // ids and codes of the images in the index
  EqualPixels equal_;   // in table_
  Calibration calibration_;
  StoredIndex::Landmarks landmarks_;
  PictureSource pictures_;  // for the index
  std::unique_ptr<PictureQuery> query_;
};

}  // namespace winnow::dedup

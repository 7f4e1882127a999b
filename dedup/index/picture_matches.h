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

// A row of a table and one of an index that show the same picture, or parts of it.
struct PictureMatch {
  std::uint32_t row = 0;
  SampleId id = 0;             // in the index
  std::uint32_t distance = 0;  // bits between their codes; 0 for equal files or pixels
  // 1 for equal files or pixels. nullopt: the codes are near, but there is too little detail to
  // compare.
  std::optional<float> probability = {};
  friend bool operator==(const PictureMatch&, const PictureMatch&) = default;
};

struct PictureMatches {
  std::vector<PictureMatch> matches;  // by row, then by falling probability, then by id
  VerifyCounts counts;
  KeptPairs kept;
  std::uint64_t refused = 0;        // pairs with near codes that are different pictures
  std::uint64_t undecided = 0;      // pairs with near codes and too little detail to decide
  std::uint64_t look_alikes = 0;    // pairs that look alike but are not copies (look_closer)
  std::uint64_t looked_closer = 0;  // pairs decided by larger pictures
};

// Some rows of a table (ascending), with those of equal pixels represented by the first of them.
class EqualPixels {
 public:
  EqualPixels() = default;
  EqualPixels(const std::vector<Hash128>& pixel_hashes, std::span<const std::uint32_t> rows);

  const std::vector<std::uint32_t>& firsts() const noexcept { return firsts_; }  // ascending
  // The rows with the pixels of a first row, itself included.
  std::vector<std::uint32_t> rows_like(std::uint32_t first) const;

 private:
  std::vector<std::uint32_t> firsts_;
  std::vector<Edge> copies_;  // a first row and another one with its pixels; sorted
};

struct PictureMatchOptions {
  int threshold = 0;  // bits; codes up to this distance are near
  LeastQuality least_quality = {};
  PairDemand demand = {};
  CloserSource closer = {};  // for rows of the index; empty: its thumbnails only
  SearchOptions search = {};
};

// Finds the rows of an index that show the pictures of tables. Same verdicts as winnow dedup for
// index and table in one cache, except for pairs that thumbnails leave in doubt. Images of equal
// pixels are compared once.
//
// Landmarks    Of the index: StoredIndex::landmarks().
// Calibration  StoredIndex::fitted(); refitted if there is a least_quality.
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

  // closer  Larger pictures for rows of the table, in addition to those of the index.
  // For one thread at a time; parallel inside.
  PictureMatches find(const ColumnSource& table, const ThumbnailSource& thumbnails,
                      const CloserSource& closer = {});

 private:
  StoredIndex index_;
  PictureMatchOptions options_;
  Fingerprints table_;  // ids and codes of the index
  EqualPixels equal_;   // in table_
  Calibration calibration_;
  StoredIndex::Landmarks landmarks_;
  PictureSource pictures_;  // for the index
  std::unique_ptr<PictureQuery> query_;
};

}  // namespace winnow::dedup

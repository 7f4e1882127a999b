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

// A row of a table and one of an index that show one picture, or parts of it.
struct PictureMatch {
  std::uint32_t row = 0;
  SampleId id = 0;             // in the index
  std::uint32_t distance = 0;  // bits between their codes; 0 for equal files or pixels
  // 1 for equal files or pixels. Nothing: the two are near by their codes, and have too few details
  // to compare.
  std::optional<float> probability = {};
  friend bool operator==(const PictureMatch&, const PictureMatch&) = default;
};

struct PictureMatches {
  std::vector<PictureMatch> matches;  // by row, the most probable first, of these by id
  VerifyCounts counts;
  KeptPairs kept;
  std::uint64_t refused = 0;        // pairs near by codes that are different pictures
  std::uint64_t undecided = 0;      // and that have too few details to tell
  std::uint64_t look_alikes = 0;    // pairs that are alike and no copies (look_closer)
  std::uint64_t looked_closer = 0;  // pairs that larger pictures decided
};

// Some rows of a table, ascending, those of equal pixels by the first of them.
class EqualPixels {
 public:
  EqualPixels() = default;
  EqualPixels(const std::vector<Hash128>& pixel_hashes, std::span<const std::uint32_t> rows);

  const std::vector<std::uint32_t>& firsts() const noexcept { return firsts_; }  // ascending
  // The rows that have the pixels of a first one, itself too.
  std::vector<std::uint32_t> rows_like(std::uint32_t first) const;

 private:
  std::vector<std::uint32_t> firsts_;
  std::vector<Edge> copies_;  // a first one and another of its pixels; sorted
};

struct PictureMatchOptions {
  int threshold = 0;  // bits between codes that are near
  LeastQuality least_quality = {};
  PairDemand demand = {};
  CloserSource closer = {};  // of rows of the index; empty: its thumbnails alone
  SearchOptions search = {};
};

// Which rows of an index show the pictures of tables: what winnow dedup says of pairs, of the index
// and the table in one cache, but for pairs that thumbnails leave in doubt. Images of equal pixels
// are compared once.
//
// Landmarks  of the index: StoredIndex::landmarks(); calibration: StoredIndex::fitted(), or with a
//            least_quality anew
// Memory     some 0.2 KB an image of the index, and 1.2 KB that are files of it, mapped
// Throws     UsageError where there are no thumbnails, or as StoredIndex::find_matches();
//            StoppedError
class PictureMatcher {
 public:
  PictureMatcher(const StoredIndex& index, PictureMatchOptions options);
  PictureMatcher(PictureMatcher&&) noexcept;
  PictureMatcher& operator=(PictureMatcher&&) = delete;
  ~PictureMatcher();

  const Calibration& calibration() const noexcept { return calibration_; }
  const StoredIndex::Landmarks& landmarks() const noexcept { return landmarks_; }  // how they came

  // `closer`: of rows of the table, beside those of the index. For one thread at a time; parallel
  // inside.
  PictureMatches find(const ColumnSource& table, const ThumbnailSource& thumbnails,
                      const CloserSource& closer = {});

 private:
  StoredIndex index_;
  PictureMatchOptions options_;
  Fingerprints table_;  // of the index: ids and codes
  EqualPixels equal_;   // in it
  Calibration calibration_;
  StoredIndex::Landmarks landmarks_;
  PictureSource pictures_;  // of the index
  std::unique_ptr<PictureQuery> query_;
};

}  // namespace winnow::dedup

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/checksum.h"
#include "common/progress.h"
#include "common/stop.h"
#include "dedup/features/feature_table.h"
#include "dedup/features/unit_vectors.h"

namespace winnow::dedup {

// Rows of a feature table that point in about the same direction.
//
// Search   Codes of 256 bits by random projections (SimHash, Charikar 2002), which are searched
//          exactly (search/); what that finds is compared again by the vectors themselves. So
//          nothing false is found, and a share is missed. The nearest are looked for by vectors
//          less their mean; pairs so too, or as they are, whichever brings fewer to compare.
// Result   A pure function of the table, the question and the seed, for any number of threads.

// A feature table made ready to be searched. Memory: 4 bytes an element and 60 a row.
class FeatureIndex {
 public:
  // Of all rows of the table; `seed`: of the projections.
  explicit FeatureIndex(const FeatureTable& table, std::uint64_t seed = 0);

  std::size_t size() const noexcept { return vectors_.size(); }
  const UnitVectors& vectors() const noexcept { return vectors_; }
  std::uint64_t seed() const noexcept { return seed_; }
  const Viewpoint& mean() const noexcept { return mean_; }
  const CodeColumn& codes() const noexcept { return codes_; }  // seen from the mean
  // Of the elements of each row: equal ones are of equal vectors.
  const std::vector<Hash128>& hashes() const noexcept { return hashes_; }
  // 1 of rows that are equal.
  float cosine(std::uint32_t a, std::uint32_t b) const noexcept {
    return hashes_[a] == hashes_[b] ? 1.0F : vectors_.cosine(a, b);
  }

 private:
  UnitVectors vectors_;
  std::uint64_t seed_;
  Viewpoint mean_;
  CodeColumn codes_;
  std::vector<Hash128> hashes_;
};

struct NeighbourOptions {
  double recall = 0.999;  // of pairs that have the cosine asked for; nearer ones are missed less
  ProgressSink progress = {};
  StopRequested stop = {};  // StoppedError
};

// Rows a < b.
struct CosinePair {
  std::uint32_t a;
  std::uint32_t b;
  float cosine;
  friend bool operator==(const CosinePair&, const CosinePair&) = default;
};
// Takes pairs as they are found: each once, a batch at a time, in no order, on any thread.
using PairSink = std::function<void(std::span<const CosinePair>)>;

// Pairs of these rows (ascending) whose cosine is at least `cosine`, up to equal vectors: rows of
// one vector are linked to the first of them, and that one alone to others.
// UsageError unless `cosine` is above 0 and at most 1.
void find_pairs(const FeatureIndex& index, std::span<const std::uint32_t> rows, double cosine,
                const PairSink& sink, const NeighbourOptions& options = {});

// All pairs of all rows, sorted.
std::vector<CosinePair> pairs_from(const FeatureIndex& index, double cosine,
                                   const NeighbourOptions& options = {});

// Pairs of a row of `some` and a row of `others`, both ascending and without a row in common, equal
// vectors included. UsageError as find_pairs().
void find_pairs_between(const FeatureIndex& index, std::span<const std::uint32_t> some,
                        std::span<const std::uint32_t> others, double cosine, const PairSink& sink,
                        const NeighbourOptions& options = {});

struct NearRow {
  std::uint32_t row;
  float cosine;
  friend bool operator==(const NearRow&, const NearRow&) = default;
};

// Of each row its nearest others, the nearest first, of equally near ones the first row first.
struct NearestRows {
  std::size_t rows = 0;
  std::size_t per_row = 0;  // k, or one less than there are rows
  std::vector<NearRow> all;

  std::span<const NearRow> operator[](std::size_t row) const noexcept {
    return std::span(all).subspan(row * per_row, per_row);
  }
};

// The `k` nearest (1 or more) of each row. They are looked for among the rows whose codes are
// nearest: 20 k of them, 400 at least. Exact for tables of no more rows than that.
NearestRows nearest_rows(const FeatureIndex& index, int k, const NeighbourOptions& options = {});

}  // namespace winnow::dedup

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

// Nearest-neighbour search in a feature table, by cosine.
//
// Search     256-bit codes by random projections (SimHash, Charikar 2002) are searched exactly
//            (search/). Candidates are compared again by the vectors themselves.
// Precision  No false pair is reported; a share of pairs is missed.
// Centre     The nearest are searched by vectors less their mean. Pairs are searched so, or by the
//            vectors as they are, whichever gives fewer candidates.
// Result     A pure function of the table, the question and the seed, for any number of threads.

// A feature table prepared for search. Memory: 4 bytes an element and 60 a row.
class FeatureIndex {
 public:
  // Indexes all rows of the table. `seed` is that of the projections.
  explicit FeatureIndex(const FeatureTable& table, std::uint64_t seed = 0);

  std::size_t size() const noexcept { return vectors_.size(); }
  const UnitVectors& vectors() const noexcept { return vectors_; }
  std::uint64_t seed() const noexcept { return seed_; }
  const Viewpoint& mean() const noexcept { return mean_; }
  const CodeColumn& codes() const noexcept { return codes_; }  // relative to the mean
  // Hash of the elements of each row: equal for equal vectors.
  const std::vector<Hash128>& hashes() const noexcept { return hashes_; }
  // Exactly 1 for equal rows.
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
  double recall = 0.999;  // for pairs at the requested cosine; nearer pairs are missed less often
  ProgressSink progress = {};
  StopRequested stop = {};  // throws StoppedError
};

// Rows a < b.
struct CosinePair {
  std::uint32_t a;
  std::uint32_t b;
  float cosine;
  friend bool operator==(const CosinePair&, const CosinePair&) = default;
};
// Receives pairs as they are found: each once, in batches, in no order, on any thread.
using PairSink = std::function<void(std::span<const CosinePair>)>;

// Finds pairs of these rows (ascending) whose cosine is at least `cosine`, up to equal vectors:
// rows of one vector are linked to the first of them, and only that one to others.
// Errors  UsageError unless `cosine` is above 0 and at most 1.
void find_pairs(const FeatureIndex& index, std::span<const std::uint32_t> rows, double cosine,
                const PairSink& sink, const NeighbourOptions& options = {});

// All pairs of all rows, sorted.
std::vector<CosinePair> pairs_from(const FeatureIndex& index, double cosine,
                                   const NeighbourOptions& options = {});

// Finds pairs of a row of `some` and a row of `others`, equal vectors included. Both ascend and
// share no row. UsageError as find_pairs().
void find_pairs_between(const FeatureIndex& index, std::span<const std::uint32_t> some,
                        std::span<const std::uint32_t> others, double cosine, const PairSink& sink,
                        const NeighbourOptions& options = {});

struct NearRow {
  std::uint32_t row;
  float cosine;
  friend bool operator==(const NearRow&, const NearRow&) = default;
};

// The nearest other rows of each row, nearest first; ties by row number.
struct NearestRows {
  std::size_t rows = 0;
  std::size_t per_row = 0;  // k, or the number of rows - 1 if that is less
  std::vector<NearRow> all;

  std::span<const NearRow> operator[](std::size_t row) const noexcept {
    return std::span(all).subspan(row * per_row, per_row);
  }
};

// The `k` (1 or more) nearest of each row. Candidates are the rows with the nearest codes: 20 k of
// them, at least 400. Exact for tables with no more rows than that.
NearestRows nearest_rows(const FeatureIndex& index, int k, const NeighbourOptions& options = {});

}  // namespace winnow::dedup

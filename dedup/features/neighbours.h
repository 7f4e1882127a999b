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
// Search     Vectors get 256-bit codes by random projections (SimHash, Charikar 2002). The codes
//            are searched exactly (search/), and the candidates found are compared by the vectors
//            themselves.
// Precision  No false pair is reported, but a share of the pairs is missed
//            (NeighbourOptions::recall).
// Centre     Nearest rows are searched by vectors less their mean. Pairs are searched by vectors as
//            they are or less their mean, whichever gives fewer candidates.
// Result     Depends on the table, the question and the seed, not on threads.

// A feature table prepared for search. Memory: 4 bytes an element, and 60 bytes a row.
class FeatureIndex {
 public:
  // Prepares all rows of the table. `seed` determines the random projections.
  explicit FeatureIndex(const FeatureTable& table, std::uint64_t seed = 0);

  std::size_t size() const noexcept { return vectors_.size(); }
  const UnitVectors& vectors() const noexcept { return vectors_; }
  std::uint64_t seed() const noexcept { return seed_; }
  const Viewpoint& mean() const noexcept { return mean_; }
  const CodeColumn& codes() const noexcept { return codes_; }  // relative to the mean
  // For each row a hash of its elements. Rows with equal vectors have equal hashes.
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
  // Expected share of pairs found at exactly the requested cosine; higher for nearer ones.
  double recall = 0.999;
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
// Receives the pairs that a search finds: each once, in batches, in no order, on any thread.
using PairSink = std::function<void(std::span<const CosinePair>)>;

// Finds pairs of `rows` (ascending) whose cosine is at least `cosine`. Equal vectors are
// represented by the first row that has them: the other rows are linked to it, and only it is
// linked to rows of other vectors.
// Errors  UsageError unless `cosine` is above 0 and at most 1.
void find_pairs(const FeatureIndex& index, std::span<const std::uint32_t> rows, double cosine,
                const PairSink& sink, const NeighbourOptions& options = {});

// Like find_pairs(), for all rows of the index; returns the pairs, sorted.
std::vector<CosinePair> pairs_from(const FeatureIndex& index, double cosine,
                                   const NeighbourOptions& options = {});

// Finds pairs of a row of `some` and a row of `others` whose cosine is at least `cosine`. Rows of
// equal vectors give all their pairs. Both lists ascend and have no row in common.
// Errors  As find_pairs().
void find_pairs_between(const FeatureIndex& index, std::span<const std::uint32_t> some,
                        std::span<const std::uint32_t> others, double cosine, const PairSink& sink,
                        const NeighbourOptions& options = {});

struct NearRow {
  std::uint32_t row;
  float cosine;
  friend bool operator==(const NearRow&, const NearRow&) = default;
};

// For each row of a table the nearest other rows, nearest first; ties by row number.
struct NearestRows {
  std::size_t rows = 0;
  std::size_t per_row = 0;  // how many each row has: k, or the number of rows less 1
  std::vector<NearRow> all;

  std::span<const NearRow> operator[](std::size_t row) const noexcept {
    return std::span(all).subspan(row * per_row, per_row);
  }
};

// Finds the `k` (1 or more) nearest other rows of each row. Candidates are the rows with the
// nearest codes: 20 * k of them, at least 400. Exact for tables with no more rows than candidates.
NearestRows nearest_rows(const FeatureIndex& index, int k, const NeighbourOptions& options = {});

}  // namespace winnow::dedup

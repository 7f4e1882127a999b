#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dedup/deduplicate.h"
#include "dedup/ranks/shared_search.h"
#include "dedup/sweep/points.h"
#include "dedup/sweep/remains.h"
#include "pipeline/store/cache.h"
#include "tools/command.h"

namespace winnow::tools {

// The test split of the cache, which no run and no choice sees.
struct SweepTest {
  std::string selection =
      {};  // says which of its images have leaked; empty: there is no such split
  std::uint64_t images = 0;
  std::uint64_t leaked = 0;  // have a duplicate among the training samples, whatever arms remove
};

// A hold-out that was cut: selections of the cache that have it, and which samples are duplicates.
struct CutHoldOut {
  std::string base;
  std::string test;  // of the same groups of duplicates
};

// A point as a selection.
struct ThinnedPoint {
  dedup::Selection selection;
  std::optional<int> bits =
      {};  // that what it thins lies apart, at most; nothing: it thins nothing
};

// The samples of a cache as the arms of a sweep have them. Selections are of its rows.
class SweepSamples {
 public:
  // Cuts the hold-out by the duplicates that `winnow split` takes for such. `work`: of all links.
  SweepSamples(const pipeline::Cache& cache, double holdout, const dedup::SharedWork& work,
               const Session& session);
  // As it was cut before.
  SweepSamples(const pipeline::Cache& cache, const CutHoldOut& cut, const dedup::SharedWork& work,
               const Session& session);

  // Thins nothing; what is held out is in val, and test in no split.
  const dedup::Selection& base() const noexcept { return base_; }
  const dedup::Fingerprints& table() const noexcept { return table_; }  // splits, labels
  std::uint64_t training() const noexcept { return training_; }
  std::uint64_t held_out() const noexcept { return held_out_; }
  const std::vector<std::string>& classes() const { return cache_.manifest().classes; }

  // Where a share is asked for, exactly that (dedup::trim). Throws UsageError: the hash cannot.
  ThinnedPoint thin(const dedup::SweepPoint& point) const;
  dedup::Remains remains_of(const dedup::Selection& selection) const;
  // Shares of the pairs within 0, 1, ... bits that are expected to be right (measure_curve()).
  std::vector<std::optional<double>> precisions(const std::string& hash, int bits) const;

  // Writes it into the cache as "sweep-DIGEST", named by its effect: of two that training sees no
  // difference between there is one. Where it only `estimates`, it is named and not written.
  std::string keep(dedup::Selection selection, bool estimates) const;
  SweepTest keep_test(bool estimates) const;

 private:
  void count();
  bool trains(std::size_t row) const noexcept {
    return base_.splits[row] == Split::kTrain && base_.weights[row] > 0;
  }
  dedup::Selection thin_by(const dedup::SweepPoint& point, int threshold) const;
  std::uint64_t matchable(const std::string& hash) const;

  const pipeline::Cache& cache_;
  dedup::ColumnSource columns_;
  dedup::LinkSource search_;
  dedup::Fingerprints table_;
  dedup::Selection base_;
  std::vector<std::uint32_t> duplicates_;  // by row: see dedup::remains_of
  std::uint64_t training_ = 0;
  std::uint64_t held_out_ = 0;
};

}  // namespace winnow::tools

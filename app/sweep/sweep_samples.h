#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/session.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/lists/groups_with_evidence.h"
#include "dedup/ranks/shared_search.h"
#include "dedup/sweep/points.h"
#include "dedup/sweep/remains.h"
#include "dedup/verify/verified_pairs.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

// The test split of a cache. It is used neither for training nor to choose between runs.
struct SweepTest {
  // Selection that marks test images with a duplicate in training; empty: no test split.
  std::string selection = {};
  std::uint64_t images = 0;
  // Number of test images with a duplicate among the training samples, before arms remove any.
  std::uint64_t leaked = 0;
};

// An existing hold-out: the names of the cache's selections that store it and the duplicates.
struct CutHoldOut {
  std::string base;
  std::string test;  // selection for test, with the same duplicate groups as `base`
};

// How the samples of a cache are divided for a sweep.
struct SweepSampling {
  double holdout = 0.1;                // share of the training samples that is held out
  std::optional<CutHoldOut> cut = {};  // existing hold-out; nullopt: make a new one
  bool verify = false;                 // compare pictures, even if the images do not call for it
  // File of the pairs that comparing pictures found. If it exists, its pairs are used and no
  // pictures are compared. Else it is written.
  std::filesystem::path pairs;
};

// The result of thinning the training samples at one point of a sweep (a deduplication setting).
struct ThinnedPoint {
  dedup::Selection selection;
  // Duplicate groups of the selection; nullopt: unknown.
  std::optional<dedup::GroupsWithEvidence> groups = {};
  // Largest Hamming distance in bits of the pairs by which images were removed; nullopt: codes were
  // not used.
  std::optional<int> bits = {};
};

// Makes the selections of the arms of a sweep (ways to thin the training data). They have one row
// per sample of the cache.
class SweepSamples {
 public:
  // Hold-out  Existing, or made so that it separates no duplicates as `winnow split` finds them.
  // Throws    UsageError: no thumbnails to compare. FormatError: stored pairs are damaged or belong
  //           to another cache.
  SweepSamples(const pipeline::Cache& cache, const SweepSampling& how,
               const dedup::SharedWork& work, const Session& session);

  // The selection that keeps all training samples. Its val is the hold-out, and test has no split.
  const dedup::Selection& base() const noexcept { return base_; }
  // The duplicate groups of base(), for selections derived from it.
  const auto& base_groups() const noexcept { return base_groups_; }
  const dedup::Fingerprints& table() const noexcept { return table_; }  // splits, labels
  std::uint64_t training() const noexcept { return training_; }
  std::uint64_t held_out() const noexcept { return held_out_; }
  const std::vector<std::string>& classes() const { return cache_.manifest().classes; }

  // Thins the training samples at a point of the sweep. A hash is searched once for all shares.
  //
  // Share     removes exactly the point's share, nearest pairs first (dedup::NearestLinks)
  // Pictures  links all pairs found by comparing pictures, which must have been compared
  // Throws    UsageError: the hash cannot remove that share
  ThinnedPoint thin(const dedup::SweepPoint& point);
  dedup::Remains remains_of(const dedup::Selection& selection) const;
  // Expected precision of all pairs within 0, 1, ... bits (measure_curve()), or of the pairs found
  // by comparing pictures.
  std::vector<std::optional<double>> precisions(const std::string& hash, int bits) const;
  std::optional<double> precision_by_pictures() const;

  // Writes a selection into the cache as "sweep-DIGEST", the digest of its effect on training:
  // equal effects are written once. Returns the name. With `estimates`, only the name is computed.
  std::string keep(dedup::Selection selection,
                   const std::optional<dedup::GroupsWithEvidence>& groups, bool estimates) const;
  SweepTest keep_test() const;

 private:
  void count();
  bool trains(std::size_t row) const noexcept {
    return base_.splits[row] == Split::kTrain && base_.weights[row] > 0;
  }
  dedup::LinksWithEvidence links_by_pictures() const;
  void compare(const SweepSampling& how, const dedup::SharedWork& work, const Session& session);
  ThinnedPoint thin_by(dedup::Options how, const dedup::SweepPoint& point,
                       const dedup::LinksWithEvidence& links) const;
  ThinnedPoint thin_share(const dedup::SweepPoint& point, double share);
  std::vector<dedup::Edge> nearest_links(const std::string& hash, int threshold) const;
  std::uint64_t matchable(const std::string& hash) const;

  struct SearchedLinks {
    std::vector<dedup::Edge> links = {};  // pairs found so far, see nearest_links()
    int next = 0;                         // next threshold to search with, in bits
  };

  const pipeline::Cache& cache_;
  dedup::ColumnSource columns_;
  dedup::SearchOptions search_how_;
  dedup::LinkSource search_;
  dedup::Fingerprints table_;
  std::optional<dedup::VerifiedPairs> pairs_;  // nullopt: pictures were not compared
  dedup::Selection base_;
  std::optional<dedup::GroupsWithEvidence> base_groups_;
  std::vector<std::uint32_t> duplicates_;  // number of each row's group of duplicates
  std::optional<dedup::GroupsWithEvidence> duplicate_groups_;
  std::uint64_t training_ = 0;
  std::uint64_t held_out_ = 0;
  std::map<std::string, SearchedLinks> searched_;  // pairs found for each hash, by its name
  std::shared_ptr<const dedup::PreferredOrder> preferred_;  // order for pairs found by pictures
};

}  // namespace winnow::app

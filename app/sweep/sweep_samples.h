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

// The test split of the cache, which no run and no choice sees.
struct SweepTest {
  std::string selection = {};  // marks its leaked images; empty: no test split
  std::uint64_t images = 0;
  // images with a duplicate among the training samples, before arms remove any
  std::uint64_t leaked = 0;
};

// A hold-out that exists: selections of the cache that contain it, and which samples are
// duplicates.
struct CutHoldOut {
  std::string base;
  std::string test;  // with the same groups of duplicates
};

// How the samples of a sweep are divided.
struct SweepSampling {
  double holdout = 0.1;                // share of the training samples
  std::optional<CutHoldOut> cut = {};  // from an earlier call; nullopt: make a new one
  bool verify = false;                 // compare pictures, whatever the images are
  // File of the pairs that show one picture. If it exists it is used, and no picture is compared
  // again; else it is written as soon as pictures were compared.
  std::filesystem::path pairs;
};

// A point as a selection.
struct ThinnedPoint {
  dedup::Selection selection;
  // Groups of the selection; nullopt: unknown.
  std::optional<dedup::GroupsWithEvidence> groups = {};
  // Largest distance between directly linked images that it thins; nullopt: codes do not decide.
  std::optional<int> bits = {};
};

// The samples of a cache for the arms of a sweep. Selections have its rows.
class SweepSamples {
 public:
  // Hold-out  Existing, or made to keep together what `winnow split` takes for duplicates.
  // Throws    UsageError: no thumbnails to compare; FormatError: stored pairs are damaged or of
  //           another cache.
  SweepSamples(const pipeline::Cache& cache, const SweepSampling& how,
               const dedup::SharedWork& work, const Session& session);

  // Thins nothing. The hold-out is val, and test is in no split.
  const dedup::Selection& base() const noexcept { return base_; }
  // The groups of base(), for selections derived from it.
  const auto& base_groups() const noexcept { return base_groups_; }
  const dedup::Fingerprints& table() const noexcept { return table_; }  // splits, labels
  std::uint64_t training() const noexcept { return training_; }
  std::uint64_t held_out() const noexcept { return held_out_; }
  const std::vector<std::string>& classes() const { return cache_.manifest().classes; }

  // Thins at a point. The pairs of a hash are searched once for all its shares.
  //
  // Share     exactly the given share, joining nearest pairs first (dedup::NearestLinks)
  // Pictures  by all pairs that show one picture, which must have been compared
  // Throws    UsageError: the hash cannot remove the share
  ThinnedPoint thin(const dedup::SweepPoint& point);
  dedup::Remains remains_of(const dedup::Selection& selection) const;
  // Expected precision of the pairs within 0, 1, ... bits (measure_curve()); and by pictures.
  std::vector<std::optional<double>> precisions(const std::string& hash, int bits) const;
  std::optional<double> precision_by_pictures() const;

  // Writes a selection into the cache as "sweep-DIGEST", named by its effect on training.
  // Selections with equal effect are written once. With `estimates`, it is named and not written.
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
    std::vector<dedup::Edge> links = {};  // see nearest_links()
    int next = 0;                         // next threshold to search with
  };

  const pipeline::Cache& cache_;
  dedup::ColumnSource columns_;
  dedup::SearchOptions search_how_;
  dedup::LinkSource search_;
  dedup::Fingerprints table_;
  std::optional<dedup::VerifiedPairs> pairs_;  // nullopt: pictures were not compared
  dedup::Selection base_;
  std::optional<dedup::GroupsWithEvidence> base_groups_;
  std::vector<std::uint32_t> duplicates_;  // by row: see dedup::remains_of
  std::optional<dedup::GroupsWithEvidence> duplicate_groups_;
  std::uint64_t training_ = 0;
  std::uint64_t held_out_ = 0;
  std::map<std::string, SearchedLinks> searched_;           // by hash
  std::shared_ptr<const dedup::PreferredOrder> preferred_;  // for pairs by pictures
};

}  // namespace winnow::app

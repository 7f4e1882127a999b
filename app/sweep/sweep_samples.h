#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/session.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/lists/told_groups.h"
#include "dedup/ranks/shared_search.h"
#include "dedup/sweep/points.h"
#include "dedup/sweep/remains.h"
#include "dedup/verify/verified_pairs.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

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

// How the samples of a sweep are told apart.
struct SweepSampling {
  double holdout = 0.1;                // share of the training samples
  std::optional<CutHoldOut> cut = {};  // as it was cut before; nothing: it is cut anew
  bool verify = false;                 // pictures are compared, whatever the images are
  // Where the pairs that show one picture are kept. What is there is gone by, and no picture is
  // compared again; else it is written as soon as pictures were compared.
  std::filesystem::path pairs;
};

// A point as a selection.
struct ThinnedPoint {
  dedup::Selection selection;
  std::optional<dedup::ToldGroups> groups = {};  // of it; nothing: they are not known
  // That the images it thins lie apart, link by link, at most; nothing: codes do not decide.
  std::optional<int> bits = {};
};

// The samples of a cache as the arms of a sweep have them. Selections are of its rows.
class SweepSamples {
 public:
  // Hold-out  Cut by the duplicates that `winnow split` takes for such, or as it was before.
  // work      Of all links.
  // Throws    UsageError: pictures are to be compared, and there are no thumbnails;
  //           FormatError: kept pairs that are damaged or of another cache
  SweepSamples(const pipeline::Cache& cache, const SweepSampling& how,
               const dedup::SharedWork& work, const Session& session);

  // Thins nothing; what is held out is in val, and test in no split.
  const dedup::Selection& base() const noexcept { return base_; }
  // What it has for groups, as selections have that are drawn from it.
  const std::optional<dedup::ToldGroups>& base_groups() const noexcept { return base_groups_; }
  const dedup::Fingerprints& table() const noexcept { return table_; }  // splits, labels
  std::uint64_t training() const noexcept { return training_; }
  std::uint64_t held_out() const noexcept { return held_out_; }
  const std::vector<std::string>& classes() const { return cache_.manifest().classes; }

  // Where a share is asked for, exactly that: the nearest pairs are joined first, until it is
  // reached (dedup::NearestLinks). By pictures: all pairs that show one, which must have been
  // compared. The pairs of a hash are searched for once, whatever the number of its shares.
  // Throws UsageError: the hash cannot remove the share.
  ThinnedPoint thin(const dedup::SweepPoint& point);
  dedup::Remains remains_of(const dedup::Selection& selection) const;
  // Shares of the pairs within 0, 1, ... bits that are expected to be right (measure_curve()).
  std::vector<std::optional<double>> precisions(const std::string& hash, int bits) const;
  // That of the pairs by pictures.
  std::optional<double> precision_by_pictures() const;

  // Writes it into the cache as "sweep-DIGEST", named by its effect: of two that training sees no
  // difference between there is one, which keeps the groups that it was first told with. Where it
  // only `estimates`, it is named and not written.
  std::string keep(dedup::Selection selection, const std::optional<dedup::ToldGroups>& groups,
                   bool estimates) const;
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
    int next = 0;                         // the threshold to search by for more
  };

  const pipeline::Cache& cache_;
  dedup::ColumnSource columns_;
  dedup::SearchOptions search_how_;
  dedup::LinkSource search_;
  dedup::Fingerprints table_;
  std::optional<dedup::VerifiedPairs> pairs_;  // nothing: pictures were not compared
  dedup::Selection base_;
  std::optional<dedup::ToldGroups> base_groups_;
  std::vector<std::uint32_t> duplicates_;  // by row: see dedup::remains_of
  std::optional<dedup::ToldGroups> duplicate_groups_;
  std::uint64_t training_ = 0;
  std::uint64_t held_out_ = 0;
  std::map<std::string, SearchedLinks> searched_;           // by hash
  std::shared_ptr<const dedup::PreferredOrder> preferred_;  // of pairs by pictures
};

}  // namespace winnow::app

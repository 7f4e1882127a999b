#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dedup/audit/issue.h"
#include "dedup/features/feature_table.h"
#include "dedup/features/neighbours.h"
#include "dedup/labels/confident.h"
#include "dedup/lists/report.h"
#include "dedup/table/fingerprints.h"
#include "train/run/evaluations/out_of_fold.h"

// Images that stand out, of `winnow suspects`. Pure.
namespace winnow::app {

// One reason to look at an image.
struct Suspect {
  std::uint32_t row = 0;  // of the table
  dedup::Issue issue = dedup::Issue::kLabelError;
  std::int32_t likely = -1;  // the label that it probably should have; -1: not told
  float score = 0;           // 0 to 1, the worst first; below 0.5 another label is surer
};

struct SuspectOptions {
  dedup::Prune prune = dedup::Prune::kNoiseRate;
  dedup::SuspectOrder order = dedup::SuspectOrder::kRatio;
  int neighbours = 20;
  double outlier_score = 0.5;  // an outlier has less
};

struct Suspects {
  std::vector<Suspect> list;          // issue by issue, the worst first
  std::uint64_t judged = 0;           // images that labels were judged of
  std::optional<double> label_noise;  // the share of these whose label is estimated to be wrong
};

// Probable label errors by what nets say that have not seen the images. `table` has labels, one an
// image at most. UsageError where these are not the images of the table.
Suspects suspects_of(const train::OutOfFold& predicted, const dedup::Fingerprints& table,
                     const SuspectOptions& options);

// By features: outliers and, with classes, labels that differ from those of the nearest images.
// `classes`: how many the labels are of; 0: labels are not looked at.
Suspects suspects_of(const dedup::FeatureTable& features, const dedup::Fingerprints& table,
                     std::size_t classes, const SuspectOptions& options,
                     const dedup::NeighbourOptions& search);

// Scores of outliers, 0 to 1, of how far each image is from where it belongs
// (dedup/features/outliers.h): 1 up to the median, 0.5 at three interquartile ranges beyond the
// upper quartile (Tukey's "far out"). Where most are equally far, 0 for all that are further.
std::vector<float> outlier_scores_of(const std::vector<float>& distances);

// The first `count` of each issue.
void keep_first(std::size_t count, std::vector<Suspect>& list);

// Words of the lists: names of classes by label, of samples.
struct SuspectWords {
  const dedup::Fingerprints& table;
  const std::vector<std::string>& classes;
  dedup::NameOf name_of;

  std::string label(std::uint32_t row) const;        // given; empty: none
  std::string likely(const Suspect& suspect) const;  // empty: not told
};

// id,name,split,label,likely,issue,score: a header and a line each, or JSON lines.
void list_suspects(const std::vector<Suspect>& list, const SuspectWords& words,
                   dedup::ListForm form, const dedup::TextSink& out);

}  // namespace winnow::app

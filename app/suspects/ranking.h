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

// Ranks images that stand out, for `winnow suspects`. Pure.
namespace winnow::app {

// One reason to look at an image.
struct Suspect {
  std::uint32_t row = 0;  // row of the table
  dedup::Issue issue = dedup::Issue::kLabelError;
  std::int32_t likely = -1;  // probable label; -1: unknown
  float score = 0;           // 0 to 1, worst first; below 0.5 another label is more probable
};

struct SuspectOptions {
  dedup::Prune prune = dedup::Prune::kNoiseRate;
  dedup::SuspectOrder order = dedup::SuspectOrder::kRatio;
  int neighbours = 20;
  double outlier_score = 0.5;  // an outlier has less
};

struct Suspects {
  std::vector<Suspect> list;          // by issue, worst first
  std::uint64_t judged = 0;           // images whose labels were judged
  std::optional<double> label_noise;  // estimated share of these whose label is wrong
};

// Probable label errors, from predictions by nets that were not trained on the images. `table` has
// at most one label per image. Throws UsageError if the images are not those of the table.
Suspects suspects_of(const train::OutOfFold& predicted, const dedup::Fingerprints& table,
                     const SuspectOptions& options);

// By features: outliers and, with classes, labels that differ from those of the nearest images.
// `classes`: number of labels; 0: labels are not used.
Suspects suspects_of(const dedup::FeatureTable& features, const dedup::Fingerprints& table,
                     std::size_t classes, const SuspectOptions& options,
                     const dedup::NeighbourOptions& search);

// Scores of outliers, 0 to 1, from the distance of each image to where it belongs
// (dedup/features/outliers.h): 1 up to the median, 0.5 at three interquartile ranges beyond the
// upper quartile (Tukey's "far out"). If most distances are equal, all greater ones score 0.
std::vector<float> outlier_scores_of(const std::vector<float>& distances);

// Keeps the first `count` of each issue.
void keep_first(std::size_t count, std::vector<Suspect>& list);

// Names for the lists: of classes by label, and of samples.
struct SuspectWords {
  const dedup::Fingerprints& table;
  const std::vector<std::string>& classes;
  dedup::NameOf name_of;

  std::string label(std::uint32_t row) const;        // the given label; empty: none
  std::string likely(const Suspect& suspect) const;  // empty: unknown
};

// id,name,split,label,likely,issue,score: CSV with a header, or JSON lines.
void list_suspects(const std::vector<Suspect>& list, const SuspectWords& words,
                   dedup::ListForm form, const dedup::TextSink& out);

}  // namespace winnow::app

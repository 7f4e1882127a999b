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

// Ranks suspects for `winnow suspects`: images with a probably wrong label, and outliers. Pure.
namespace winnow::app {

// One image to look at, and the reason.
struct Suspect {
  std::uint32_t row = 0;  // row of the fingerprint table
  dedup::Issue issue = dedup::Issue::kLabelError;
  std::int32_t likely = -1;  // label that is more probable than the given one; -1: unknown
  float score = 0;  // 0 (worst) to 1; for label errors: below 0.5 another label is more probable
};

struct SuspectOptions {
  dedup::Prune prune = dedup::Prune::kNoiseRate;
  dedup::SuspectOrder order = dedup::SuspectOrder::kRatio;
  int neighbours = 20;
  double outlier_score = 0.5;  // images with a lower score are outliers
};

struct Suspects {
  std::vector<Suspect> list;          // suspects by issue, worst first
  std::uint64_t judged = 0;           // number of images whose labels were checked
  std::optional<double> label_noise;  // estimated share of wrong labels among the checked images
};

// Finds probable label errors by predictions of nets that were not trained on the predicted images
// (out-of-fold). `table` has at most one label per image. Throws UsageError if an image is not in
// `table`.
Suspects suspects_of(const train::OutOfFold& predicted, const dedup::Fingerprints& table,
                     const SuspectOptions& options);

// Finds outliers by feature vectors and, if labels are used, images whose label differs from those
// of their nearest neighbours. `classes`: number of labels; 0: labels are not used.
Suspects suspects_of(const dedup::FeatureTable& features, const dedup::Fingerprints& table,
                     std::size_t classes, const SuspectOptions& options,
                     const dedup::NeighbourOptions& search);

// Scores of outliers from distances (dedup/features/outliers.h), 0 to 1. 1 up to the median
// distance, 0.5 at three interquartile ranges beyond the upper quartile (Tukey's "far out"). If
// most distances are equal, all greater ones score 0.
std::vector<float> outlier_scores_of(const std::vector<float>& distances);

// Keeps the `count` worst suspects of each issue.
void keep_first(std::size_t count, std::vector<Suspect>& list);

// Texts for the lists of suspects: names of classes and of samples.
struct SuspectWords {
  const dedup::Fingerprints& table;
  const std::vector<std::string>& classes;
  dedup::NameOf name_of;

  std::string label(std::uint32_t row) const;        // name of the given label; empty: none
  std::string likely(const Suspect& suspect) const;  // name of the probable label; empty: unknown
};

// Writes suspects as CSV with a header, or as JSON lines. Columns: id, name, split, label, likely,
// issue, score.
void list_suspects(const std::vector<Suspect>& list, const SuspectWords& words,
                   dedup::ListForm form, const dedup::TextSink& out);

}  // namespace winnow::app

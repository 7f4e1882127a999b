#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/sample.h"
#include "common/statistics.h"

// Compares training runs on the same images, for `winnow compare`. Pure functions.
namespace winnow::app {

// A run to compare: its settings and its prediction for each image.
struct ComparedRun {
  std::string name;                             // name of the run, any bytes
  std::map<std::string, std::string> settings;  // settings of the run, from config_settings()
  std::vector<SampleId> ids;                    // images the run was evaluated on, ascending
  std::vector<std::int32_t> labels;             // label of each image, see Evaluation
  std::vector<std::int32_t> predictions;
  // The fold of each image, from 1, for `winnow train --folds`: an image is predicted by the net
  // that was not trained on its fold. Empty: one net predicted all images.
  std::vector<std::uint32_t> folds = {};

  std::string seed() const;     // random seed, "1"; empty if the settings have none
  std::uint64_t right() const;  // number of correct predictions
};

// Keeps only the images that all runs have in the same fold. Returns the number of images lost by
// the run that had most images before. Throws UsageError if no image is left.
std::size_t keep_common_images(std::vector<ComparedRun>& runs);

// Two runs to compare, by their indices.
struct RunPair {
  std::size_t first = 0;
  std::size_t other = 0;
  PairedHits hits = {};  // images that both runs get right, only one or none; `a` is the first run
  double p = 1;          // p-value of McNemar's test
  Interval difference = {};  // difference of accuracies, 95 % confidence interval
};

// Accuracies of two recipes in one cross-validation fold, on its validation images. Means over
// seeds.
struct FoldPair {
  std::uint32_t fold = 0;  // number of the fold, from 1
  std::uint64_t images = 0;
  double first = 0;
  double other = 0;
};

// A recipe compared with the first recipe.
struct ComparisonWithFirst {
  std::size_t recipe = 0;
  std::vector<RunPair> pairs;  // pairs of runs with equal seeds
  // Difference over seeds, for two pairs or more; not with folds.
  std::optional<PairedDifference> over_seeds = {};
  std::vector<FoldPair> folds = {};
  // Accuracy difference over two folds or more. By the corrected resampled t-test, because folds
  // share training images.
  std::optional<PairedDifference> over_folds = {};
  // The p-value of the comparison (over folds, over seeds, or of a single pair of runs),
  // Holm-corrected for `corrected_for` recipes.
  std::optional<double> p = {};
  std::optional<Loss> loss = {};  // verdict whether accuracy is lost; only if a margin is given
  std::size_t corrected_for = 1;  // number of recipes that p-values are corrected for
};

struct Comparison {
  std::size_t images = 0;
  // For each recipe the indices of its runs. The first recipe comes first.
  std::vector<std::vector<std::size_t>> recipes;
  // All recipes but the first, in order, each compared with the first.
  std::vector<ComparisonWithFirst> others;
};

// Groups runs into recipes and compares each recipe with the first.
// - Runs whose settings differ only in the seed form one recipe. If all runs would form a single
//   one, each run is a recipe of its own.
// - Runs of two recipes are paired by seed. Two recipes of one run each are paired whatever the
//   seeds.
// runs    two or more on the same images, all with folds or all without
// margin  largest accuracy loss that still counts as no loss: a share above 0
Comparison compare(const std::vector<ComparedRun>& runs, std::optional<double> margin);

// Joins the runs of cross-validation folds into one run. folds[i] is fold i + 1, with predictions
// for its validation images.
// Settings  those that all folds share. The folds' selections differ only in a number at the end of
//           the name; the joined run has the name without it.
ComparedRun join_folds(const std::vector<ComparedRun>& folds, std::string name);

// An image that two recipes predict correctly with different frequency.
struct DifferingImage {
  std::size_t place = 0;  // index of the image
  double first = 0;       // share of the first recipe's runs that are correct
  double other = 0;       // share of the other recipe's runs that are correct
};
// Images that the other recipe predicts correctly more often (gained) or less often (lost) than the
// first. Largest difference first.
struct DifferingImages {
  std::vector<DifferingImage> gained;
  std::vector<DifferingImage> lost;
};
DifferingImages differing_images(const std::vector<ComparedRun>& runs, const Comparison& comparison,
                                 std::size_t recipe);

// The settings in which two runs differ, except the seed, at most five: "recipe.lr 0.1, here 0.2;
// ...".
std::string what_differs(const ComparedRun& first, const ComparedRun& other);

// A sentence: whether a recipe is better or worse than the first, as far as the data show.
std::string in_words(const ComparisonWithFirst& beside, std::optional<double> margin);

}  // namespace winnow::app

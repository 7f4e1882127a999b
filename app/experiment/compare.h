#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/sample.h"
#include "common/statistics.h"

// Compares runs on the same images, for `winnow compare`. Pure functions.
namespace winnow::app {

struct ComparedRun {
  std::string name;                             // any bytes
  std::map<std::string, std::string> settings;  // from config_settings()
  std::vector<SampleId> ids;                    // images that it was evaluated on, ascending
  std::vector<std::int32_t> labels;             // label of each image: see Evaluation
  std::vector<std::int32_t> predictions;
  // For `winnow train --folds`: the fold of each image, from 1. The net that predicted the image
  // was not trained on that fold. Empty: one net predicted all.
  std::vector<std::uint32_t> folds = {};

  std::string seed() const;     // "1"; empty if the settings have none
  std::uint64_t right() const;  // number of correct predictions
};

// Keeps only the images that all runs have in the same fold. Returns how many images the largest
// run lost: the one with the most images before. Throws UsageError if no image is left.
std::size_t keep_common_images(std::vector<ComparedRun>& runs);

// Two runs, by their places.
struct RunPair {
  std::size_t first = 0;
  std::size_t other = 0;
  PairedHits hits = {};      // a: the first run
  double p = 1;              // McNemar's test
  Interval difference = {};  // difference of accuracies, with 95 % confidence
};

// Accuracy of two recipes on one fold, on the images that it left out. Means over seeds.
struct FoldPair {
  std::uint32_t fold = 0;  // from 1
  std::uint64_t images = 0;
  double first = 0;
  double other = 0;
};

// A recipe compared with the first one.
struct ComparisonWithFirst {
  std::size_t recipe = 0;
  std::vector<RunPair> pairs;                       // pairs of runs with equal seeds
  std::optional<PairedDifference> over_seeds = {};  // for two pairs or more; not for folds
  std::vector<FoldPair> folds = {};
  // For two folds or more. Uses the corrected resampled t-test because folds share training images.
  std::optional<PairedDifference> over_folds = {};
  // From over_folds, over_seeds or a single pair. Both are corrected by Holm for this many recipes.
  std::optional<double> p = {};
  std::optional<Loss> loss = {};  // where a margin is given
  std::size_t corrected_for = 1;
};

struct Comparison {
  std::size_t images = 0;
  // places of their runs; the first recipe comes first
  std::vector<std::vector<std::size_t>> recipes;
  std::vector<ComparisonWithFirst> others;  // the other recipes, in their order
};

// Groups runs into recipes and compares each recipe with the first.
// - Runs whose settings differ only in the seed form one recipe. If all runs would form one, each
//   is a recipe of its own.
// - Runs of two recipes are paired by seed. Two single runs are paired whatever their seeds are.
// In      two runs or more on the same images, either all with folds or none
// margin  largest accuracy loss that still counts as no loss: a share, above 0
Comparison compare(const std::vector<ComparedRun>& runs, std::optional<double> margin);

// Joins the folds of a folder into one run. The run at place i is fold i + 1, with predictions for
// the images that it left out.
// Settings  those that all folds share. The folds' selections have one name except for the number
//           at its end; the joined run names it without the number.
ComparedRun join_folds(const std::vector<ComparedRun>& folds, std::string name);

// An image that two recipes predict correctly unequally often.
struct DifferingImage {
  std::size_t place = 0;  // place among the images
  double first = 0;       // share of the first recipe's runs that are correct
  double other = 0;
};
// Images on which the other recipe is right more often, or less often. Largest difference first.
struct DifferingImages {
  std::vector<DifferingImage> gained;
  std::vector<DifferingImage> lost;
};
DifferingImages differing_images(const std::vector<ComparedRun>& runs, const Comparison& comparison,
                                 std::size_t recipe);

// The settings in which two runs differ, without the seed, at most five: "recipe.lr 0.1, here 0.2;
// ...".
std::string what_differs(const ComparedRun& first, const ComparedRun& other);

// A sentence: what the data supports about a recipe compared with the first.
std::string in_words(const ComparisonWithFirst& beside, std::optional<double> margin);

}  // namespace winnow::app

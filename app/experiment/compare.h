#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/sample.h"
#include "common/statistics.h"

// Runs side by side on the same images, as `winnow compare` sees them. Pure functions.
namespace winnow::app {

struct ComparedRun {
  std::string name;                             // any bytes
  std::map<std::string, std::string> settings;  // config_settings()
  std::vector<SampleId> ids;                    // that it was evaluated on, ascending
  std::vector<std::int32_t> labels;             // of each: see Evaluation
  std::vector<std::int32_t> predictions;
  // Of `winnow train --folds`: the fold of each image, from 1, whose net predicted it and had not
  // seen it. Empty: one net predicted all.
  std::vector<std::uint32_t> folds = {};

  std::string seed() const;     // "1"; empty where it says none
  std::uint64_t right() const;  // images whose label was predicted
};

// Leaves each run the images that all of them have, in the same fold. Returns how many others there
// were, of the run that has most of them. Throws UsageError where none is left.
std::size_t keep_common_images(std::vector<ComparedRun>& runs);

// Two runs, by their places.
struct RunPair {
  std::size_t first = 0;
  std::size_t other = 0;
  PairedHits hits = {};      // a: the first
  double p = 1;              // McNemar's
  Interval difference = {};  // of the shares that are right, with 95 % confidence
};

// A fold of two recipes: shares of the images that it left out that are right, means over seeds.
struct FoldPair {
  std::uint32_t fold = 0;  // from 1
  std::uint64_t images = 0;
  double first = 0;
  double other = 0;
};

// A recipe beside the first one.
struct BesideFirst {
  std::size_t recipe = 0;
  std::vector<RunPair> pairs;                       // of equal seeds
  std::optional<PairedDifference> over_seeds = {};  // of two pairs or more; not of folds
  std::vector<FoldPair> folds = {};
  // Of two folds or more, by the corrected resampled t-test, for folds share training images.
  std::optional<PairedDifference> over_folds = {};
  // Of over_folds, over_seeds, or a single pair; both by Holm, of as many recipes.
  std::optional<double> p = {};
  std::optional<Loss> loss = {};  // where a margin is given
  std::size_t corrected_for = 1;
};

struct Comparison {
  std::size_t images = 0;
  std::vector<std::vector<std::size_t>> recipes;  // places of their runs; first that of the first
  std::vector<BesideFirst> others;                // the others, in their order
};

// Runs whose settings differ by nothing but the seed are of one recipe; where all are, each is its
// own. Runs of two recipes are paired by seed; two single ones whatever their seeds are.
// In     Two runs or more, of the same images, either all of folds or none.
// margin What a recipe may lose and be said to lose nothing: a share, above 0.
Comparison compare(const std::vector<ComparedRun>& runs, std::optional<double> margin);

// The folds of a folder as one run: those of place i are of fold i + 1, each with what it left out.
// Its settings are those that all folds have; the selections of the folds have one name but for the
// number at its end, and that is what it is said to be trained on.
ComparedRun join_folds(const std::vector<ComparedRun>& folds, std::string name);

// An image that two recipes do not have right equally often.
struct DifferingImage {
  std::size_t place = 0;  // among the images
  double first = 0;       // share of the runs of the first recipe that have it right
  double other = 0;
};
// Those of which the other recipe has more right, or fewer: those of most difference first.
struct DifferingImages {
  std::vector<DifferingImage> gained;
  std::vector<DifferingImage> lost;
};
DifferingImages differing_images(const std::vector<ComparedRun>& runs, const Comparison& comparison,
                                 std::size_t recipe);

// "recipe.lr 0.1, here 0.2; ...": settings in which two runs differ, but for the seed. At most
// five.
std::string what_differs(const ComparedRun& first, const ComparedRun& other);

// What may be said of a recipe beside the first, in a sentence.
std::string in_words(const BesideFirst& beside, std::optional<double> margin);

}  // namespace winnow::app

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "dedup/split/split.h"

namespace winnow::dedup {

// k-fold cross-validation, as one selection for each fold: that fold is val, the others are train.

inline constexpr std::uint32_t kMostFolds = 100;
inline constexpr std::uint8_t kNoFold = 255;   // stays in its split
inline constexpr std::uint8_t kLeftOut = 254;  // in no split

// The fold that each row of a table is assigned to.
struct Folds {
  Splitting rows;  // common to all folds: why a row is left out; its splits are those of the table
  // By row: the fold that the row is val in, from 0; or kNoFold or kLeftOut.
  std::vector<std::uint8_t> folds;
};

// Distributes samples to `count` folds (2 to kMostFolds). Blocks (samples that must stay together)
// are not divided. Each fold gets 1 / count of every class, as nearly as blocks allow
// (assign_stratified).
//
// in      As split_rows(), but options.shares and dealing.stay are ignored.
// fixed   Fixed rows stay in their split. Other rows of a block with a fixed row in train, val or
//         test are left out, so that a fixed test set neither grows nor leaks. They are in no
//         split, like rows that reviewers dropped: in val they would be evaluated with every fold.
// pure    Depends on table (ids, splits, labels), blocks, options and count only.
// errors  UsageError if a fold would be empty because there are fewer blocks than folds.
Folds deal_folds(const Fingerprints& table, const Components& blocks, const SplitOptions& options,
                 std::uint32_t count);

struct FoldsSummary {
  struct Fold {
    std::uint64_t samples = 0;
    std::uint64_t blocks = 0;
    std::uint64_t classes = 0;  // number of classes with a sample in this fold
    // Sizes of the smallest and the largest class among the distributed samples of this fold. 0
    // without labels.
    std::uint64_t fewest = 0;
    std::uint64_t most = 0;
    double furthest = 0;  // greatest deviation of a class from its share of this fold, in samples
  };
  struct Off {
    std::uint32_t fold = 0;  // number of the fold in which the class deviates most from its share
    ClassOff off;            // split: val
  };
  std::vector<Fold> folds;
  // Number of samples that are not distributed: they stay in their split, in all folds.
  std::array<std::uint64_t, kSplitCount> fixed{};
  std::uint64_t dealt = 0;  // number of samples distributed to all folds together
  std::uint64_t blocks = 0;
  std::uint64_t largest_block = 0;
  std::uint64_t left_out = 0;  // number of samples left out because they duplicate a fixed sample
  // Classes that miss their share by more than one sample in some fold, greatest deviation first.
  std::vector<Off> off;
};
FoldsSummary summarise_folds(const Fingerprints& table, const Components& blocks,
                             const SplitOptions& options, const Folds& dealt, std::uint32_t count);

struct FoldsResult {
  // Common part of the selections of all folds; its splits are those of the table.
  Selection common;
  std::vector<std::uint8_t> folds;    // as in Folds
  std::vector<std::string> settings;  // by fold: the settings text of its selection
  FoldsSummary summary;
};

// Makes folds from a table, like make_splits(): finds duplicates, then distributes.
// Errors  As make_splits() and deal_folds(). UsageError if samples of train or val are fixed, since
//         every sample of these is in train and val in turn.
FoldsResult make_folds(const ColumnSource& columns, SplitOptions options, std::uint32_t count,
                       const LinkSource& links = {});

// The selection for training with this fold (from 0) as val. The caller fills in name and
// cache_digest.
Selection selection_of_fold(const FoldsResult& result, std::uint32_t fold);

// Divides the training data of a selection into folds, so that each sample can be predicted by a
// net that was not trained on it.
//
// in      `chosen`: a selection of all rows of the table, which has labels and groups. Samples of
//         one component or one group key stay together.
// out     For each of `count` folds (2 to kMostFolds), `chosen` with other splits. Samples with a
//         weight that are not in test are val in one fold and train in the others. All others are
//         in no split, removed or not. The settings record which fold is val.
// errors  UsageError if there is no sample to distribute, or if a fold would get none.
// pure    Depends on the selection, the table (ids, splits, labels, groups) and count only.
std::vector<Selection> folds_of(const Selection& chosen, const Fingerprints& table,
                                std::uint32_t count);

}  // namespace winnow::dedup

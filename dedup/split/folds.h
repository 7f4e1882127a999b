#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "dedup/split/split.h"

namespace winnow::dedup {

// k-fold cross-validation: K selections. Number i has fold i as val and the other folds as train.

inline constexpr std::uint32_t kMostFolds = 100;
inline constexpr std::uint8_t kNoFold = 255;   // stays in its split
inline constexpr std::uint8_t kLeftOut = 254;  // in no split

// The fold of each row of a table.
struct Folds {
  Splitting rows;                   // the same for all folds; splits are those of the table
  std::vector<std::uint8_t> folds;  // from 0; or kNoFold, or kLeftOut
};

// Deals samples to `count` folds (2 to kMostFolds) without cutting blocks. Each fold gets 1 / count
// of every class, as nearly as blocks allow (assign_stratified).
//
// in      As split_rows(), but options.shares and dealing.stay are ignored.
// fixed   Rows of a block with a fixed row in train, val or test are left out, so that a fixed test
//         set neither grows nor leaks. They are in no split, like rows that reviewers dropped: in
//         val they would be evaluated with every fold.
// pure    Depends on table (ids, splits, labels), blocks, options and count only.
// errors  UsageError if a fold would be empty because there are fewer blocks than folds.
Folds deal_folds(const Fingerprints& table, const Components& blocks, const SplitOptions& options,
                 std::uint32_t count);

struct FoldsSummary {
  struct Fold {
    std::uint64_t samples = 0;
    std::uint64_t blocks = 0;
    std::uint64_t classes = 0;  // classes with a sample in it
    // The smallest and largest number of samples of one distributed class in this fold. 0 without
    // labels.
    std::uint64_t fewest = 0;
    std::uint64_t most = 0;
    double furthest = 0;  // greatest deviation of a class from its share, in samples
  };
  struct Off {
    std::uint32_t fold = 0;  // the fold with the greatest deviation of the class
    ClassOff off;            // split: val
  };
  std::vector<Fold> folds;
  std::array<std::uint64_t, kSplitCount> fixed{};  // samples that stay in their split, in all folds
  std::uint64_t dealt = 0;                         // distributed to all folds together
  std::uint64_t blocks = 0;
  std::uint64_t largest_block = 0;
  std::uint64_t left_out = 0;  // samples left out because they duplicate a fixed one
  // Classes off by more than one in some fold, greatest deviation first.
  std::vector<Off> off;
};
FoldsSummary summarise_folds(const Fingerprints& table, const Components& blocks,
                             const SplitOptions& options, const Folds& dealt, std::uint32_t count);

struct FoldsResult {
  Selection common;  // the common part: its splits are those of the table, it has no settings
  std::vector<std::uint8_t> folds;    // as in Folds
  std::vector<std::string> settings;  // for the selection of each fold
  FoldsSummary summary;
};

// From a table to folds, like make_splits(). Throws as make_splits() and deal_folds(). UsageError
// for fixed samples of train or val, since each of those is train and val in turn.
FoldsResult make_folds(const ColumnSource& columns, SplitOptions options, std::uint32_t count,
                       const LinkSource& links = {});

// The selection with this fold (from 0) as val. The caller fills in name and cache_digest.
Selection selection_of_fold(const FoldsResult& result, std::uint32_t fold);

// Folds of the training data of a selection, so that each sample can be predicted by a net that has
// not seen it.
//
// in      `chosen`: for all rows of the table, which has labels and groups. Its components, and
//         rows of one group key, are the blocks.
// out     `chosen` once for each of `count` folds (2 to kMostFolds), with other splits. Samples
//         with a weight that are not in test: one fold is val, the others are train. All others are
//         in no split, removed or not. The settings record which fold is val.
// errors  UsageError if there is no sample to distribute, or a fold would get none.
// pure    Depends on the selection, the table (ids, splits, labels, groups) and count only.
std::vector<Selection> folds_of(const Selection& chosen, const Fingerprints& table,
                                std::uint32_t count);

}  // namespace winnow::dedup

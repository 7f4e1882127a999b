#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "dedup/split/split.h"

namespace winnow::dedup {

// k-fold cross-validation: of K selections, number i has fold i for val and the other folds for
// train.

inline constexpr std::uint32_t kMostFolds = 100;
inline constexpr std::uint8_t kNoFold = 255;   // it stays in its split
inline constexpr std::uint8_t kLeftOut = 254;  // it is in no split

// The fold of each row of a table.
struct Folds {
  Splitting rows;                   // in all folds alike; splits are those of the table
  std::vector<std::uint8_t> folds;  // from 0, or kNoFold, or kLeftOut
};

// Deals samples out to `count` folds (2 to kMostFolds) that cut no block, each with 1 / count of
// every class as near as blocks allow (see assign_stratified).
//
// in       As split_rows has it, but that options.shares and dealing.stay say nothing.
// fixed    Rows of a block with a fixed row in train, val or test are left out, so that a fixed
// test
//          set neither grows nor leaks. They are in no split then, as are rows that people dropped:
//          in val they would be evaluated with every fold.
// pure     Depends on table (ids, splits, labels), blocks, options and count alone.
// errors   UsageError where a fold would get no sample, as there are fewer blocks than folds.
Folds deal_folds(const Fingerprints& table, const Components& blocks, const SplitOptions& options,
                 std::uint32_t count);

struct FoldsSummary {
  struct Fold {
    std::uint64_t samples = 0;
    std::uint64_t blocks = 0;
    std::uint64_t classes = 0;  // with a sample in it
    // Samples of the classes that are dealt out and have least and most in it; 0 without labels.
    std::uint64_t fewest = 0;
    std::uint64_t most = 0;
    double furthest = 0;  // greatest distance of a class from its share of it, in samples
  };
  struct Off {
    std::uint32_t fold = 0;  // where the class is furthest off
    ClassOff off;            // split: val
  };
  std::vector<Fold> folds;
  std::array<std::uint64_t, kSplitCount> fixed{};  // samples used where they are, in all folds
  std::uint64_t dealt = 0;                         // to all folds together
  std::uint64_t blocks = 0;
  std::uint64_t largest_block = 0;
  std::uint64_t left_out = 0;  // samples to be dealt out that a fixed one has for a duplicate
  std::vector<Off> off;        // classes off by more than one in some fold, furthest first
};
FoldsSummary summarise_folds(const Fingerprints& table, const Components& blocks,
                             const SplitOptions& options, const Folds& dealt, std::uint32_t count);

struct FoldsResult {
  Selection common;  // what all have alike: its splits are those of the table, it has no settings
  std::vector<std::uint8_t> folds;    // as Folds has them
  std::vector<std::string> settings;  // of the selection of each fold
  FoldsSummary summary;
};

// The whole way from a table, as make_splits goes it. Throws likewise, as deal_folds does, and
// UsageError for samples of train or val that are fixed: each is train and val in turn.
FoldsResult make_folds(const ColumnSource& columns, SplitOptions options, std::uint32_t count,
                       const LinkSource& links = {});

// The selection with this fold, from 0, for val; name and cache_digest the caller's to fill in.
Selection selection_of_fold(const FoldsResult& result, std::uint32_t fold);

// Folds of what a selection lets be trained on, so that each sample can be predicted by a net that
// has not seen it.
//
// in       `chosen`: of all rows of the table, which has labels and groups. Its components and rows
//          of one group key are the blocks.
// out      `chosen`, once for each of `count` folds (2 to kMostFolds), with other splits: of the
//          samples with a weight that are not in test, one fold is val and the others are train.
//          All else is in no split, removed or not. Settings say which fold is val.
// errors   UsageError where no sample is dealt out, or a fold would get none.
// pure     Depends on the selection, the table (ids, splits, labels, groups) and count alone.
std::vector<Selection> folds_of(const Selection& chosen, const Fingerprints& table,
                                std::uint32_t count);

}  // namespace winnow::dedup

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dedup/cluster/cluster.h"
#include "dedup/decisions/split_options.h"
#include "dedup/table/fingerprints.h"
#include "dedup/table/selection.h"

namespace winnow::dedup {

// The split that each row of a table is assigned to. "Fixed" rows are those that the options leave
// in their split. Lists have one entry a row.
struct Splitting {
  // The split in which the row is used; its original split if it is left out.
  std::vector<Split> splits;
  // The row itself. If the row is left out: the fixed row that it duplicates.
  std::vector<std::uint32_t> kept_rows;
  // The reason: kKept; kLeak: the row is left out; kReview: a reviewer dropped it; kMoved: moved to
  // the split of a fixed row.
  std::vector<Rule> rules;
};

// Joins components that have samples of one group key (such as one patient). An empty key joins
// nothing. Equal keys of different sources are the same key.
Components unite_keys(const Components& components, const Ragged<char>& keys);

// Makes stratified splits: each class gets its shares as nearly as possible (assign_stratified),
// but no block is divided. A block is the samples that must stay together: duplicates and samples
// of one group key. Fixed rows are those that the options leave in their split.
//
// Classes     Samples without labels form a class. A sample with several labels counts in each.
// Home        The home of a block with fixed rows is the last of train, val, test that has one of
//             them.
// Fixed rows  Those in an earlier split than the home leaked already, and are left out.
// Others      The remaining rows of the block move to its home if options give that split a share.
//             Otherwise they are left out, so that a fixed test set neither grows nor leaks.
// Left out    Represented by the first fixed row in the home. Such rows do not count in the shares.
// Pure        Depends on table (ids, splits, labels), blocks and options only.
// Errors      UsageError for shares that are negative or do not sum to 1.
Splitting split_rows(const Fingerprints& table, const Components& blocks,
                     const SplitOptions& options);

// Why a class misses its share of a split by more than one sample. If several reasons apply, the
// first.
enum class OffReason {
  kFixed,   // some of its samples had to go to the split of a fixed duplicate
  kBlock,   // some of its samples must stay together
  kLabels,  // some of its samples have labels of other classes, too
};

struct ClassOff {
  std::optional<std::int32_t> label;  // nullopt: samples without labels
  std::uint64_t samples = 0;          // number of distributed samples of the class
  std::uint64_t largest_block = 0;    // most samples of the class that must stay together
  Split split = Split::kTrain;        // the split in which the class deviates most from its share
  double wanted = 0;                  // number of samples of the class that this split should have
  std::uint64_t got = 0;
  OffReason reason = OffReason::kBlock;

  double distance() const noexcept;
};

struct SplitSummary {
  struct Part {
    std::uint64_t samples = 0;  // used in this split
    // Number of the split's used samples that were distributed to it (not fixed).
    std::uint64_t dealt = 0;
    std::uint64_t blocks = 0;   // number of blocks with samples in the split
    std::uint64_t classes = 0;  // number of classes with samples in the split
  };
  std::array<Part, kSplitCount> parts;
  std::uint64_t blocks = 0;
  std::uint64_t largest_block = 0;
  // Number of samples of train, val or test that are now used in another of these splits.
  std::uint64_t moved = 0;
  std::uint64_t left_out = 0;  // samples left out because they duplicate a fixed one
  std::uint64_t leaks = 0;     // fixed samples left out
  double furthest = 0;         // greatest deviation of a class from its share, in samples
  // Classes that miss their share by more than one sample, greatest deviation first.
  std::vector<ClassOff> off;
};
SplitSummary summarise(const Fingerprints& table, const Components& blocks,
                       const SplitOptions& options, const Splitting& splitting);

struct SplitResult {
  Selection selection;  // its groups are the blocks; the caller fills in name and cache_digest
  SplitSummary summary;
};

// Makes splits from a table: finds duplicates, then distributes them (split_rows). Rows that are
// left out or were dropped by a reviewer get weight 0.
// Errors  As deduplicate() and split_rows(). UsageError if there is nothing to distribute, or if a
//         split would be empty although its share is at least one sample or because there are too
//         few blocks.
SplitResult make_splits(const ColumnSource& columns, const SplitOptions& options,
                        const LinkSource& links = {});

}  // namespace winnow::dedup

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

// The new split of each row of a table.
struct Splitting {
  std::vector<Split> splits;             // the split in which it is used; its own if it is left out
  std::vector<std::uint32_t> kept_rows;  // itself, or the fixed row because of which it is left out
  // kKept; kLeak: left out; kReview: dropped; kMoved: moved to the split of a fixed row
  std::vector<Rule> rules;
};

// Components that also unite all rows of one group key. "" is no key. Keys of all sources share one
// namespace.
Components unite_keys(const Components& components, const Ragged<char>& keys);

// Stratified splits that cut no block. Each class gets its shares as nearly as blocks allow
// (assign_stratified).
//
// Classes     Samples without labels form a class. A sample with several labels counts in each.
// Home        A block with fixed rows in train, val or test belongs to the last of these splits
//             that has one.
// Fixed rows  Those in an earlier split than the home were leaks already, and are left out.
// Others      The block's remaining rows follow it home if that split has a share. Otherwise they
//             are left out, so that a fixed test set neither grows nor leaks.
// Left out    In favour of the first fixed row at home. Such rows do not count in the shares.
// Pure        Depends on table (ids, splits, labels), blocks and options only.
// Errors      UsageError for shares that are negative or do not sum to 1.
Splitting split_rows(const Fingerprints& table, const Components& blocks,
                     const SplitOptions& options);

// Why a class is off its share by more than one sample. If several apply, the first.
enum class OffReason {
  kFixed,   // some of its samples had to follow fixed ones
  kBlock,   // some of its samples stay together
  kLabels,  // some of its samples have other labels, too
};

struct ClassOff {
  std::optional<std::int32_t> label;  // nullopt: samples without labels
  std::uint64_t samples = 0;          // distributed samples of the class
  std::uint64_t largest_block = 0;    // the most of them that stay together
  Split split = Split::kTrain;        // the split with the greatest deviation
  double wanted = 0;                  // its share of samples there
  std::uint64_t got = 0;
  OffReason reason = OffReason::kBlock;

  double distance() const noexcept;
};

struct SplitSummary {
  struct Part {
    std::uint64_t samples = 0;  // used in this split
    std::uint64_t dealt = 0;    // used in it and distributed to it
    std::uint64_t blocks = 0;   // blocks with samples in it
    std::uint64_t classes = 0;  // classes with samples in it
  };
  std::array<Part, kSplitCount> parts;
  std::uint64_t blocks = 0;
  std::uint64_t largest_block = 0;
  std::uint64_t moved = 0;     // samples of train, val or test that are used in another of them
  std::uint64_t left_out = 0;  // samples left out because they duplicate a fixed one
  std::uint64_t leaks = 0;     // fixed samples left out
  double furthest = 0;         // greatest deviation of a class from its share, in samples
  std::vector<ClassOff> off;   // classes off by more than one, greatest deviation first
};
SplitSummary summarise(const Fingerprints& table, const Components& blocks,
                       const SplitOptions& options, const Splitting& splitting);

struct SplitResult {
  Selection selection;  // its groups are the blocks; the caller fills in name and cache_digest
  SplitSummary summary;
};

// From a table to splits. Rows left out or dropped get weight 0.
// Errors  As deduplicate() and split_rows(). UsageError if there is nothing to distribute, or if a
//         split would be empty although its share is at least one sample or because there are too
//         few blocks.
SplitResult make_splits(const ColumnSource& columns, const SplitOptions& options,
                        const LinkSource& links = {});

}  // namespace winnow::dedup

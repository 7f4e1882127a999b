#pragma once

// Distribution of blocks to parts: to splits (split.cpp) or folds (folds.cpp).

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dedup/cluster/cluster.h"
#include "dedup/split/split.h"
#include "dedup/split/stratify.h"
#include "dedup/table/fingerprints.h"

namespace winnow::dedup {

// Class numbers of rows: 0 for rows without labels, then the labels in order.
class RowClasses {
 public:
  explicit RowClasses(const Ragged<std::int32_t>& labels);  // must outlive this
  std::uint32_t count() const { return static_cast<std::uint32_t>(names_.size()) + 1; }
  std::optional<std::int32_t> label(std::uint32_t number) const;
  // Appends the classes of a row to `list`, each once.
  void append(std::uint32_t row, std::vector<std::uint32_t>& list) const;

 private:
  const Ragged<std::int32_t>& labels_;
  std::vector<std::int32_t> names_;
};

// Counts each class in the list, in ascending order. Sorts the list.
std::vector<ClassCount> count_classes(std::vector<std::uint32_t>& classes);

inline bool is_fixed(const SplitOptions& options, Split split) noexcept {
  return !options.of[static_cast<std::size_t>(split)];
}

// The rows of a block without those that reviewers dropped.
std::vector<std::uint32_t> remaining(std::span<const std::uint32_t> block,
                                     const SplitOptions& options);

inline bool is_used(Split split) noexcept { return split != Split::kNone; }

inline constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
// The fixed row that decides where a block belongs: the first one of the split used last, or
// kNowhere.
std::uint32_t home_of(const Fingerprints& table, std::span<const std::uint32_t> rows,
                      const SplitOptions& options);

OffReason reason_of(bool followed, std::uint64_t largest_block) noexcept;

// The parts to which blocks are distributed: splits or folds.
struct Parts {
  std::vector<double> shares;  // as in StratifyInput
  // The split of each part; empty: parts are folds, which have no fixed rows.
  std::vector<Split> splits;

  std::uint8_t of(Split split) const;  // by split: its part; kAnyPart: it is none
  // The part with most of these rows; kAnyPart if they are in none.
  std::uint8_t of_most(const Fingerprints& table, std::span<const std::uint32_t> rows) const;
};

struct Dealt {
  Splitting rows;                   // its `splits` are still those of the table
  std::vector<std::uint8_t> parts;  // by row: its part; kAnyPart: not distributed
  std::size_t blocks = 0;           // number of blocks with a distributed row
};
// Distributes blocks as split_rows() says. Pure.
Dealt deal(const Fingerprints& table, const Components& blocks, const SplitOptions& options,
           const Parts& parts);

// Finds the input of make_splits(): a table with labels and group keys, and its blocks. Throws as
// make_splits().
struct BlockTable {
  Fingerprints table;
  Components blocks;
  // Version of the compared codes; set by selection_of().
  std::optional<std::uint32_t> hash_version = {};
};
BlockTable find_blocks(const ColumnSource& columns, const SplitOptions& options,
                       const LinkSource& links);

// Makes a selection of the result, without name, settings and cache_digest. `splits` is filled even
// if it equals the table's. Moves ids and blocks out of `found`, and sets its hash version.
Selection selection_of(BlockTable& found, Splitting splitting, const ColumnSource& columns,
                       const SplitOptions& options);

}  // namespace winnow::dedup

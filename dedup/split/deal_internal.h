#pragma once

// Blocks dealt out to parts: to splits by split.cpp, to folds by folds.cpp.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dedup/cluster/cluster.h"
#include "dedup/fingerprints.h"
#include "dedup/split/split.h"
#include "dedup/split/stratify.h"

namespace winnow::dedup {

// Classes of rows, numbered from 0: first those without labels, then labels in their order.
class RowClasses {
 public:
  explicit RowClasses(const Ragged<std::int32_t>& labels);  // which must live as long
  std::uint32_t count() const { return static_cast<std::uint32_t>(names_.size()) + 1; }
  std::optional<std::int32_t> label(std::uint32_t number) const;
  // Adds those of a row to `list`, each once.
  void append(std::uint32_t row, std::vector<std::uint32_t>& list) const;

 private:
  const Ragged<std::int32_t>& labels_;
  std::vector<std::int32_t> names_;
};

// How often each class is in the list, which gets sorted; classes ascend.
std::vector<ClassCount> count_classes(std::vector<std::uint32_t>& classes);

inline bool is_fixed(const SplitOptions& options, Split split) noexcept {
  return !options.of[static_cast<std::size_t>(split)];
}

// The rows of a block but for those that people dropped.
std::vector<std::uint32_t> remaining(std::span<const std::uint32_t> block,
                                     const SplitOptions& options);

inline bool is_used(Split split) noexcept { return split != Split::kNone; }

inline constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
// The fixed row that says where a block is at home: the first of the split used last, or kNowhere.
std::uint32_t home_of(const Fingerprints& table, std::span<const std::uint32_t> rows,
                      const SplitOptions& options);

OffReason reason_of(bool followed, std::uint64_t largest_block) noexcept;

// What blocks are dealt out to.
struct Parts {
  std::vector<double> shares;  // as StratifyInput has them
  std::vector<Split> splits;   // that the parts are; none: folds, where no fixed row is at home

  std::uint8_t of(Split split) const;  // kAnyPart: it is no part
  // The part that most of these rows are in; kAnyPart: they are in none.
  std::uint8_t of_most(const Fingerprints& table, std::span<const std::uint32_t> rows) const;
};

struct Dealt {
  Splitting rows;                   // `splits` are those of the table still
  std::vector<std::uint8_t> parts;  // of each row; kAnyPart: it is not dealt out
  std::size_t blocks = 0;           // that have a row that is
};
// As split_rows says. Pure.
Dealt deal(const Fingerprints& table, const Components& blocks, const SplitOptions& options,
           const Parts& parts);

// What make_splits deals out: a table with labels and group keys, and its blocks. Throws likewise.
struct BlockTable {
  Fingerprints table;
  Components blocks;
  std::optional<std::uint32_t> hash_version = {};  // of the codes compared; by selection_of
};
BlockTable find_blocks(const ColumnSource& columns, const SplitOptions& options,
                       const LinkSource& links);

// The selection of it but for name, settings and cache_digest, its splits there even where they are
// those of the table. Moves ids and blocks out of `found`, and says its hash version.
Selection selection_of(BlockTable& found, Splitting splitting, const ColumnSource& columns,
                       const SplitOptions& options);

}  // namespace winnow::dedup

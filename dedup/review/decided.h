#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/checksum.h"
#include "dedup/cluster/cut.h"
#include "dedup/review/review.h"
#include "dedup/table/fingerprints.h"

namespace winnow::dedup {

// Review decisions applied to the rows of one table. A decision about an image applies to all rows
// of the same file.
struct Decided {
  RowSets same;   // must-link sets: one picture each; two or more rows, ascending
  RowSets apart;  // cannot-link sets: no two are one picture; two or more files, one row of each
  RowSets kept;   // rows of one file that shall represent its group; later decisions come last
  // Decisions about single images. Both ascend.
  RowList spared;   // kept in spite of issues
  RowList dropped;  // removed
  // One for each review file.
  struct Source {
    std::string file;              // file name without folder
    Hash128 digest;                // digest of its complete lines
    std::uint64_t judgements = 0;  // judgements that were applied
  };
  std::vector<Source> reviews;
  std::uint64_t judgements = 0;  // all that were applied: about images in the table
  std::uint64_t unknown = 0;     // judged images that are not in the table
  // Images judged different from one with equal pixels; they stay together.
  std::uint64_t equal = 0;

  bool empty() const noexcept {
    return same.empty() && apart.empty() && kept.empty() && spared.empty() && dropped.empty();
  }
};

// Applies the judgements in force (last_said) to a table, of which file_hashes and pixel_hashes are
// read. Images that are not in the table are only counted.
//
// Errors  UsageError for a contradiction, naming file and line of both judgements:
// - two images are called different, and another judgement makes them one picture, directly or
//   through other judged images or equal pixels
// - an image shall represent its group and be dropped
Decided apply_to_rows(std::span<const Review> reviews, const ColumnSource& columns);

// Links between those of `rows` (ascending) that `decided` calls the same: each to the one before
// it.
std::vector<Edge> same_edges(const Decided& decided, std::span<const std::uint32_t> rows);

}  // namespace winnow::dedup

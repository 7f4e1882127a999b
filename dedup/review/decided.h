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

// Review decisions, translated to the rows of one table. A decision about an image applies to all
// rows of the same file.
struct Decided {
  RowSets same;   // must-link sets: each set of rows is one picture; two or more rows, ascending
  RowSets apart;  // cannot-link sets: no two files of a set are one picture; one row of each file
  // Sets of rows of one file, which shall represent its group; later decisions come last.
  RowSets kept;
  // Rows that have decisions about single images, ascending: `spared` and `dropped`.
  RowList spared;   // kept in spite of issues such as "dark"
  RowList dropped;  // removed
  // A review file that decisions were taken from.
  struct Source {
    std::string file;              // file name without folder
    Hash128 digest;                // XXH3-128 of the complete lines of the file
    std::uint64_t judgements = 0;  // judgements that were applied
  };
  std::vector<Source> reviews;
  // Number of judgements that were applied, in all: those about images in the table.
  std::uint64_t judgements = 0;
  std::uint64_t unknown = 0;  // number of judged images that are not in the table
  // Number of images judged different from one with equal pixels; they stay together all the same.
  std::uint64_t equal = 0;

  bool empty() const noexcept {
    return same.empty() && apart.empty() && kept.empty() && spared.empty() && dropped.empty();
  }
};

// Translates the judgements in force (last_said) to rows of a table. Reads file_hashes and
// pixel_hashes. Images that are not in the table are only counted.
//
// Errors  UsageError for a contradiction, naming file and line of both judgements:
// - two images are called different, and another judgement makes them one picture, directly or
//   through other judged images or equal pixels
// - an image shall represent its group and be dropped
Decided apply_to_rows(std::span<const Review> reviews, const ColumnSource& columns);

// Must-links among `rows` (ascending): each row is linked to the previous one of its set in
// decided.same.
std::vector<Edge> same_edges(const Decided& decided, std::span<const std::uint32_t> rows);

}  // namespace winnow::dedup

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/checksum.h"
#include "dedup/cluster/cut.h"
#include "dedup/fingerprints.h"
#include "dedup/review/review.h"

namespace winnow::dedup {

// What people decided, put to the rows of one table. Rows of one file are all meant.
struct Decided {
  RowSets same;   // must link: one picture each; two rows or more, ascending
  RowSets apart;  // cannot link: no two are one picture; rows of two files or more, one of each
  RowSets kept;  // rows of one file that is to stand for its group; what was said later comes later
  // By themselves; both ascend.
  RowList spared;   // no issue drops them
  RowList dropped;  // they go
  // Of each review that was given.
  struct Source {
    std::string file;              // without its folder
    Hash128 digest;                // of its whole lines
    std::uint64_t judgements = 0;  // that are obeyed
  };
  std::vector<Source> reviews;
  std::uint64_t judgements = 0;  // obeyed, of all: about images that the table has
  std::uint64_t unknown = 0;     // images that were judged and that it does not have
  std::uint64_t equal = 0;  // images said to differ from one of equal pixels; they stay together

  bool empty() const noexcept {
    return same.empty() && apart.empty() && kept.empty() && spared.empty() && dropped.empty();
  }
};

// Puts what is in force (last_said) to a table, of which it needs file_hashes and pixel_hashes.
// Images that the table does not have are counted; what is said of the others holds.
//
// UsageError for a contradiction, naming file and line of both: two images said to be different
// that another judgement makes one picture, directly or through further images, be it others that
// were judged or equal pixels; an image that is to stand for its group and to be dropped.
Decided put_to_rows(std::span<const Review> reviews, const ColumnSource& columns);

// Links of rows that are the same by `decided`, among `rows`, which ascend: each to the one before
// it.
std::vector<Edge> same_edges(const Decided& decided, std::span<const std::uint32_t> rows);

}  // namespace winnow::dedup

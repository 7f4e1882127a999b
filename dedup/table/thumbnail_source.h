#pragma once

#include <cstddef>
#include <vector>

#include "dedup/table/fingerprints.h"

namespace winnow::dedup {

// Thumbnails that are read on request: of some rows of a table, or of several tables.

// Thumbnails of the rows that `keep` marks (one entry a row). Empty if there are none. Holds 4
// bytes a row.
ThumbnailSource select_rows(const ThumbnailSource& thumbnails, const std::vector<bool>& keep);

// The thumbnails of several tables, one after the other. Empty if a table with rows has none.
struct CountedThumbnails {
  ThumbnailSource thumbnails;
  std::size_t rows = 0;
};
ThumbnailSource join_rows(std::vector<CountedThumbnails> tables);

}  // namespace winnow::dedup

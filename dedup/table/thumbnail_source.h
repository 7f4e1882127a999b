#pragma once

#include <cstddef>
#include <vector>

#include "dedup/table/fingerprints.h"

namespace winnow::dedup {

// Sources of thumbnails made from other sources: of some rows of a table, or of several tables.

// The thumbnails of the rows marked in `keep` (one entry a row). Empty if there are none. Memory: 4
// bytes a row.
ThumbnailSource select_rows(const ThumbnailSource& thumbnails, const std::vector<bool>& keep);

// Joins the thumbnails of several tables, one table after the other. Empty if a table that has rows
// has no thumbnails.
struct CountedThumbnails {
  ThumbnailSource thumbnails;
  std::size_t rows = 0;
};
ThumbnailSource join_rows(std::vector<CountedThumbnails> tables);

}  // namespace winnow::dedup

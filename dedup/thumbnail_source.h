#pragma once

#include <cstddef>
#include <vector>

#include "dedup/fingerprints.h"

namespace winnow::dedup {

// Thumbnails that are not held: those of some rows of a table, and of several tables.

// Of the rows that `keep`, one entry a row, marks. Empty where there are none. Holds 4 bytes a row.
ThumbnailSource select_rows(const ThumbnailSource& thumbnails, const std::vector<bool>& keep);

// Of tables of so many rows each, one behind the other. Empty where one that has rows has none.
struct CountedThumbnails {
  ThumbnailSource thumbnails;
  std::size_t rows = 0;
};
ThumbnailSource join_rows(std::vector<CountedThumbnails> tables);

}  // namespace winnow::dedup

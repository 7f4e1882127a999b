#pragma once

#include <filesystem>

#include "dedup/features/feature_table.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

// A table of the vectors in a .npy file, of which `names` has the image of each row, a line a row,
// as the cache's ledger names it. Name and source are left to the caller.
//
// Throws  FormatError as NpyMatrix, and for a vector that cannot be a row, naming its image;
//         UsageError for lines that do not fit the rows or the cache.
dedup::FeatureTable given_vectors(const std::filesystem::path& npy,
                                  const std::filesystem::path& names, dedup::FeatureType type,
                                  const pipeline::Cache& cache);

}  // namespace winnow::app

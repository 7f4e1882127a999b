#pragma once

#include <filesystem>

#include "dedup/features/feature_table.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

// A feature table of the vectors in a .npy file. The caller sets name and source.
//
// names   a file with one line per row: the image's name in the cache's ledger
// Throws  FormatError as NpyMatrix, and for a vector that cannot be a row (names the image);
//         UsageError: lines that do not fit the rows or the cache.
dedup::FeatureTable given_vectors(const std::filesystem::path& npy,
                                  const std::filesystem::path& names, dedup::FeatureType type,
                                  const pipeline::Cache& cache);

}  // namespace winnow::app

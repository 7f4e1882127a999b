#pragma once

#include <filesystem>

#include "dedup/features/feature_table.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

// Makes a table of feature vectors from a .npy file. The caller sets its name and source.
//
// names   file with one line per row: the image's name in the cache's ledger
// Throws  FormatError as NpyMatrix, and for a vector that cannot be stored (names the image).
//         UsageError: the lines do not match the rows or the cache.
dedup::FeatureTable given_vectors(const std::filesystem::path& npy,
                                  const std::filesystem::path& names, dedup::FeatureType type,
                                  const pipeline::Cache& cache);

}  // namespace winnow::app

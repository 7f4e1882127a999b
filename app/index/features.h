#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dedup/features/feature_table.h"
#include "dedup/index/index.h"

namespace winnow::app {

// Feature vectors of the images in an index. The index stores none; they are read from the caches
// `at` that were added to it.
//
// Skipped  data sets among `at`, because they have no features
// Throws   UsageError: a cache without features of that name, or that was not added to the index;
//          as join_features()
dedup::FeatureTable features_of_index(const dedup::StoredIndex& index, const std::string& name,
                                      const std::vector<std::filesystem::path>& at);

// The paths of --source that have pictures. A cache may be given for its features alone.
std::vector<std::filesystem::path> with_pictures(std::vector<std::filesystem::path> sources);

}  // namespace winnow::app

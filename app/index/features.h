#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dedup/features/feature_table.h"
#include "dedup/index/index.h"

namespace winnow::app {

// Features of the images in an index. The index itself stores none: they come from the caches among
// `at`, each of which was added to it.
//
// Skipped  data sets among `at`, which have none
// Throws   UsageError: a cache without features of that name, or that is no part of the index; as
//          join_features()
dedup::FeatureTable features_of_index(const dedup::StoredIndex& index, const std::string& name,
                                      const std::vector<std::filesystem::path>& at);

// The paths of --source that have pictures. A cache may be named for its features alone.
std::vector<std::filesystem::path> with_pictures(std::vector<std::filesystem::path> sources);

}  // namespace winnow::app

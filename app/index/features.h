#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dedup/features/feature_table.h"
#include "dedup/index/index.h"

namespace winnow::app {

// The features of that name of the images in an index, which keeps none: from the caches among
// `at`, each of which was added to it. Data sets among them have none and are passed over.
// UsageError for a cache that has none of that name, or no data set of the index, and as
// join_features().
dedup::FeatureTable features_of_index(const dedup::StoredIndex& index, const std::string& name,
                                      const std::vector<std::filesystem::path>& at);

// Of what --source names what has pictures: a cache may be named for its features alone.
std::vector<std::filesystem::path> with_pictures(std::vector<std::filesystem::path> sources);

}  // namespace winnow::app

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dedup/features/feature_table.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {

// Feature tables of a cache, beside its selections: features/NAME.features. Names are as those of
// selections.

std::filesystem::path features_path(const CachePaths& cache, const std::string& name);
// UsageError where it cannot name one.
void check_features_name(const std::string& name);
std::vector<std::string> list_features(const CachePaths& cache);  // in order

// UsageError when there is none of that name (naming those there are), or it is for another cache.
// FormatError when it is damaged, or has rows that the cache has not. Its name is that of the file.
dedup::FeatureTable read_features(const Cache& cache, const std::string& name);
// Durable; replaces. UsageError for a table of another cache.
void write_features(const Cache& cache, const dedup::FeatureTable& table);

}  // namespace winnow::pipeline

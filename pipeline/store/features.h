#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dedup/features/feature_table.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {

// Feature tables of a cache, stored beside its selections: features/NAME.features. Names follow the
// rules of selections.

std::filesystem::path features_path(const CachePaths& cache, const std::string& name);
// UsageError for an invalid name.
void check_features_name(const std::string& name);
std::vector<std::string> list_features(const CachePaths& cache);  // sorted

// The table has the name of the file.
// Errors  UsageError if there is none of that name (lists the existing ones), or it is for another
//         cache. FormatError if it is damaged, or has rows that the cache lacks.
dedup::FeatureTable read_features(const Cache& cache, const std::string& name);
// Durable; replaces. UsageError for a table of another cache.
void write_features(const Cache& cache, const dedup::FeatureTable& table);

}  // namespace winnow::pipeline

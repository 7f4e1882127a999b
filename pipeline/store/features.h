#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dedup/features/feature_table.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {

// Feature vectors of a cache's images, stored with its selections: features/NAME.features. Names
// follow the rules for names of selections.

std::filesystem::path features_path(const CachePaths& cache, const std::string& name);
// Throws UsageError for an invalid name of a feature table.
void check_features_name(const std::string& name);
std::vector<std::string> list_features(const CachePaths& cache);  // sorted

// Reads a feature table. Its name is that of the file.
// Errors  UsageError if none has that name (lists the existing ones), or it was made for another
//         cache. FormatError if it is damaged, or has rows for samples that the cache lacks.
dedup::FeatureTable read_features(const Cache& cache, const std::string& name);
// Writes a feature table durably; replaces one of the same name. UsageError for a table of another
// cache.
void write_features(const Cache& cache, const dedup::FeatureTable& table);

}  // namespace winnow::pipeline

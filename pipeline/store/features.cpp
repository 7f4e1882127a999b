#include "pipeline/store/features.h"

#include <algorithm>
#include <system_error>

#include "common/error.h"
#include "common/file.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;

fs::path features_path(const CachePaths& cache, const std::string& name) {
  return cache.root / "features" / (name + ".features");
}

void check_features_name(const std::string& name) {
  if (is_selection_name(name)) return;
  throw UsageError("'" + name +
                   "' cannot name features: use letters, digits, '.', '_' and '-', not starting "
                   "with '.'");
}

std::vector<std::string> list_features(const CachePaths& cache) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(cache.root / "features", ignored)) {
    if (entry.path().extension() == ".features") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

dedup::FeatureTable read_features(const Cache& cache, const std::string& name) {
  check_features_name(name);
  const fs::path file = features_path(cache.paths(), name);
  std::error_code ignored;
  if (!fs::exists(file, ignored)) {
    std::string known;
    for (const std::string& other : list_features(cache.paths())) {
      known += (known.empty() ? "it has " : ", ") + other;
    }
    throw UsageError(cache.paths().root.string() + " has no features '" + name + "'; " +
                     (known.empty() ? "make them with winnow embed" : known));
  }
  dedup::FeatureTable table = dedup::read_features(InputFile(file));
  if (table.cache_digest != cache.digest()) {
    throw UsageError(file.string() +
                     " was made for another cache; make it again with winnow embed");
  }
  const std::vector<SampleId> ids = cache.open_fingerprints()({}).ids;
  if (!std::ranges::includes(ids, table.ids)) {
    throw FormatError(file.string() +
                      " has images that the cache does not have; make it again with winnow embed");
  }
  if (!is_selection_name(table.name)) {
    throw FormatError(file.string() +
                      " is damaged: the name in it is not valid for features; make it again " +
                      "with winnow embed");
  }
  table.name = name;  // the name of a renamed file counts
  return table;
}

void write_features(const Cache& cache, const dedup::FeatureTable& table) {
  check_features_name(table.name);
  if (table.cache_digest != cache.digest()) {
    throw UsageError("features '" + table.name + "' were made for another cache than " +
                     cache.paths().root.string());
  }
  const fs::path file = features_path(cache.paths(), table.name);
  make_directories(file.parent_path());
  dedup::write_features(file, table);
}

}  // namespace winnow::pipeline

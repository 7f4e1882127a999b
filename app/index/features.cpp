#include "app/index/features.h"

#include <cstdint>
#include <deque>
#include <map>

#include "app/index/inputs.h"
#include "app/sources/in_place.h"
#include "common/error.h"
#include "dedup/index/index_features.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/features.h"

namespace winnow::app {

dedup::FeatureTable features_of_index(const dedup::StoredIndex& index, const std::string& name,
                                      const std::vector<std::filesystem::path>& at) {
  std::deque<dedup::FeatureTable> tables;  // a deque, so that elements do not move
  std::map<std::uint32_t, dedup::FeaturesOfSource> of_source;
  for (const std::filesystem::path& path : at) {
    if (is_data_set(path)) continue;
    const pipeline::Cache cache =
        pipeline::Cache::open(path, pipeline::OpenOptions::without_shards());
    tables.push_back(pipeline::read_features(cache, name));
    const std::vector<SourceInIndex> sources = sources_in(index, sources_of(cache));
    for (const SourceInIndex& source : sources) {
      of_source.try_emplace(source.in_index,
                            dedup::FeaturesOfSource{&tables.back(), source.there, source.in_index});
    }
    if (!sources.empty()) continue;
    throw UsageError(path.string() + " holds no data set of " + index.folder().string() +
                     ", or only data sets that changed after they were added; winnow index info "
                     "lists those of the index");
  }
  std::vector<dedup::FeaturesOfSource> from;
  for (const auto& [source, features] : of_source) from.push_back(features);
  return dedup::join_features(index, from);
}

std::vector<std::filesystem::path> with_pictures(std::vector<std::filesystem::path> sources) {
  std::erase_if(sources, [](const std::filesystem::path& path) {
    return !is_data_set(path) && pipeline::Cache::open(path).manifest().shards.empty();
  });
  return sources;
}

}  // namespace winnow::app

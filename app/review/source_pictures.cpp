#include "app/review/source_pictures.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "common/counted.h"
#include "common/error.h"
#include "datasets/formats.h"

namespace winnow::app {
namespace {

std::unique_ptr<datasets::Source> open_as(const std::filesystem::path& path,
                                          const pipeline::SourceInfo& info) {
  auto source = datasets::open_source(
      path,
      {.format = info.format, .labels = datasets::LabelsFrom::kNone, .allow_empty_classes = true});
  if (source->entries().size() == info.inputs) return source;
  throw UsageError(fmt::format(
      "{} has {}, but source '{}' of the cache has {}; it is another data set, or has changed",
      path.string(), count_of(source->entries().size(), "image"), info.name, grouped(info.inputs)));
}

}  // namespace

SourcePictures::SourcePictures(const pipeline::Cache& cache, const pipeline::LedgerNames& names,
                               const std::vector<std::filesystem::path>& at)
    : cache_(cache), names_(names) {
  const pipeline::Manifest& manifest = cache.manifest();
  if (at.empty() && !manifest.shards.empty()) return;
  if (at.size() != manifest.sources.size()) {
    throw UsageError(fmt::format(
        "{} {}; name its {} with --source, in the order of winnow info",
        cache.paths().root.string(),
        manifest.shards.empty() ? "has no pictures of its own" : "was made of other data sets",
        count_of(manifest.sources.size(), "data set")));
  }
  for (std::size_t i = 0; i < at.size(); ++i) {
    sources_.push_back(open_as(at[i], manifest.sources[i]));
  }
}

pipeline::PictureOf SourcePictures::pictures() const {
  if (sources_.empty()) return pipeline::pictures_of(cache_);
  std::vector<pipeline::PictureOf> of_source;
  for (const auto& source : sources_) {
    of_source.push_back(pipeline::pictures_of(*source, cache_.manifest().settings.decode));
  }
  return
      [this, of_source = std::move(of_source)](SampleId id, int side_px) -> std::optional<Image> {
        const std::size_t number = source_of(id);
        if (number >= sources_.size()) return std::nullopt;
        const auto& entries = sources_[number]->entries();
        if (position_of(id) >= entries.size()) return std::nullopt;
        if (entries.names()[position_of(id)] != names_(id)) return std::nullopt;
        return of_source[number](id, side_px);
      };
}

}  // namespace winnow::app

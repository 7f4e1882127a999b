#include "tools/index_pictures.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "common/error.h"
#include "datasets/formats.h"
#include "pipeline/ingest/plan.h"
#include "pipeline/store/cache.h"
#include "tools/in_place.h"

namespace winnow::tools {
namespace {

namespace fs = std::filesystem;

// A data set as it tells itself from others, wherever it lies and whatever its folder is called.
struct Known {
  std::string format;
  std::string listing_hash;
};

std::vector<Known> sources_at(const fs::path& at, const IngestFlags& reading) {
  std::vector<Known> known;
  if (is_data_set(at)) {
    const auto source = datasets::open_source(at, open_options(reading));
    known.push_back({std::string(source->format()), pipeline::listing_hash(*source)});
    return known;
  }
  const pipeline::Cache cache = pipeline::Cache::open(at);
  for (const pipeline::SourceInfo& source : cache.manifest().sources) {
    known.push_back({source.format, source.listing_hash});
  }
  return known;
}

// Where the pictures of a source of the index are: of which source there.
struct Place {
  pipeline::PictureOf picture_of;
  std::uint32_t source = 0;
};

}  // namespace

void add_pictures_flag(CLI::App& app, std::vector<fs::path>& sources) {
  app.add_option("--source", sources,
                 "Of --report: a cache or a data set that was added to the index, to take its "
                 "pictures from; repeatable")
      ->needs(app.get_option("--report"))
      ->take_all()
      ->allow_extra_args(false);
}

pipeline::PictureOf open_pictures(const fs::path& at, const IngestFlags& reading,
                                  const Session& session) {
  if (is_data_set(at)) {
    std::shared_ptr<const datasets::Source> source =
        datasets::open_source(at, open_options(reading));
    return [source,
            picture_of = pipeline::pictures_of(*source, ingest_options(reading, session).decode)](
               SampleId id, int side_px) { return picture_of(id, side_px); };
  }
  auto cache = std::make_shared<const pipeline::Cache>(pipeline::Cache::open(at));
  pipeline::PictureOf picture_of = pipeline::pictures_of(*cache);
  if (!picture_of) return {};
  return [cache, picture_of = std::move(picture_of)](SampleId id, int side_px) {
    return picture_of(id, side_px);
  };
}

pipeline::PictureOf pictures_of_index(const dedup::StoredIndex& index,
                                      const std::vector<fs::path>& at, const IngestFlags& reading,
                                      const Session& session) {
  if (at.empty()) return {};
  std::map<std::uint32_t, Place> places;
  for (const fs::path& path : at) {
    const pipeline::PictureOf picture_of = open_pictures(path, reading, session);
    if (!picture_of) {
      throw UsageError(path.string() +
                       " holds fingerprints only, and no pictures; name the data set itself with "
                       "--source");
    }
    const std::size_t before = places.size();
    const std::vector<Known> known = sources_at(path, reading);
    for (std::uint32_t here = 0; here < known.size(); ++here) {
      for (std::uint32_t there = 0; there < index.sources().size(); ++there) {
        const dedup::IndexSource& source = index.sources()[there];
        if (source.format != known[here].format || source.listing_hash != known[here].listing_hash)
          continue;
        places.try_emplace(there, Place{picture_of, here});
      }
    }
    if (places.size() == before) {
      throw UsageError(path.string() + " has no data set that is in " + index.folder().string() +
                       ", or it has changed since, or was named before; see winnow index info");
    }
  }
  return [places = std::move(places)](SampleId id, int side_px) -> std::optional<Image> {
    const auto found = places.find(source_of(id));
    if (found == places.end()) return std::nullopt;
    return found->second.picture_of(make_sample_id(found->second.source, position_of(id)), side_px);
  };
}

}  // namespace winnow::tools

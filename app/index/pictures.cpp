#include "app/index/pictures.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "app/dedup/search.h"
#include "app/index/features.h"
#include "app/index/inputs.h"
#include "app/sources/in_place.h"
#include "common/error.h"
#include "datasets/formats.h"
#include "dedup/verify/known_landmarks.h"
#include "pipeline/ingest/plan.h"
#include "pipeline/store/cache.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

// The data set or cache at a path. Pictures keep it open.
struct Opened {
  std::shared_ptr<const datasets::Source> data_set = {};
  std::shared_ptr<const pipeline::Cache> cache = {};
};

Opened open_at(const fs::path& at, const ReadingOptions& reading) {
  if (is_data_set(at)) return {.data_set = datasets::open_source(at, open_options(reading))};
  return {.cache = std::make_shared<const pipeline::Cache>(pipeline::Cache::open(at))};
}

pipeline::PictureOf pictures_of(const Opened& opened, const ReadingOptions& reading,
                                const Session& session) {
  pipeline::PictureOf picture_of =
      opened.cache
          ? pipeline::pictures_of(*opened.cache)
          : pipeline::pictures_of(*opened.data_set, ingest_options(reading, session).decode);
  if (!picture_of) return {};
  return [opened, picture_of = std::move(picture_of)](SampleId id, int side_px) {
    return picture_of(id, side_px);
  };
}

std::vector<KnownSource> sources_of(const Opened& opened) {
  if (opened.cache) return app::sources_of(*opened.cache);
  return {{std::string(opened.data_set->format()), pipeline::listing_hash(*opened.data_set)}};
}

// Where to find pictures of a source of the index: which source of the opened one it is.
struct Place {
  pipeline::PictureOf picture_of;
  std::uint32_t source = 0;
};

}  // namespace

Images images_of(const dedup::StoredIndex& index, pipeline::PictureOf picture_of,
                 const std::vector<fs::path>& sources, const Session& session) {
  return {.hashes = {index.kind().hash},
          .thumbnails = index.thumbnails(),
          .picture_of = std::move(picture_of),
          .features_of =
              [&](const std::string& name) { return features_of_index(index, name, sources); },
          .landmarks =
              [&](std::span<const std::uint32_t> rows) {
                dedup::StoredIndex::Landmarks found =
                    index.landmarks(rows, search_options(session));
                tell(session, found);
                return found.known->table();
              },
          .landmarks_a_picture = [&] { return index.landmarks_a_picture(); }};
}

pipeline::PictureOf open_pictures(const fs::path& at, const ReadingOptions& reading,
                                  const Session& session) {
  return pictures_of(open_at(at, reading), reading, session);
}

pipeline::PictureOf pictures_of_index(const dedup::StoredIndex& index,
                                      const std::vector<fs::path>& at,
                                      const ReadingOptions& reading, const Session& session) {
  if (at.empty()) return {};
  std::map<std::uint32_t, Place> places;
  for (const fs::path& path : at) {
    const Opened opened = open_at(path, reading);
    const pipeline::PictureOf picture_of = pictures_of(opened, reading, session);
    if (!picture_of) {
      throw UsageError(path.string() +
                       " holds fingerprints only, and no pictures; name the data set itself with "
                       "--source");
    }
    const std::size_t before = places.size();
    for (const SourceInIndex& source : sources_in(index, sources_of(opened))) {
      places.try_emplace(source.in_index, Place{picture_of, source.there});
    }
    if (places.size() == before) {
      throw UsageError(path.string() + " holds no data set of " + index.folder().string() +
                       ", or only data sets that changed after they were added, or that are named "
                       "twice; winnow index info lists those of the index");
    }
  }
  return [places = std::move(places)](SampleId id, int side_px) -> std::optional<Image> {
    const auto found = places.find(source_of(id));
    if (found == places.end()) return std::nullopt;
    return found->second.picture_of(make_sample_id(found->second.source, position_of(id)), side_px);
  };
}

}  // namespace winnow::app

#include "app/index/inputs.h"

#include <fmt/core.h>

#include "app/dedup/search.h"
#include "app/sources/in_place.h"
#include "app/temporary_folder.h"
#include "app/words.h"
#include "common/error.h"

namespace winnow::app {

std::vector<KnownSource> sources_of(const pipeline::Cache& cache) {
  std::vector<KnownSource> known;
  for (const pipeline::SourceInfo& source : cache.manifest().sources) {
    known.push_back({source.format, source.listing_hash});
  }
  return known;
}

std::vector<SourceInIndex> sources_in(const dedup::StoredIndex& index,
                                      std::span<const KnownSource> known) {
  std::vector<SourceInIndex> found;
  for (std::uint32_t there = 0; there < known.size(); ++there) {
    for (std::uint32_t in_index = 0; in_index < index.sources().size(); ++in_index) {
      const dedup::IndexSource& source = index.sources()[in_index];
      if (source.format == known[there].format &&
          source.listing_hash == known[there].listing_hash) {
        found.push_back({there, in_index});
      }
    }
  }
  return found;
}

dedup::ThumbnailSource thumbnails_of(const dedup::StoredIndex& index) {
  dedup::ThumbnailSource thumbnails = index.thumbnails();
  if (thumbnails || index.live_rows() == 0) return thumbnails;
  throw UsageError(index.folder().string() +
                   " lacks thumbnails of some images, so pictures cannot be compared; ingest their "
                   "data sets with --thumbnails on, and make a new index of these caches");
}

dedup::ThumbnailSource thumbnails_of(const pipeline::Cache& cache,
                                     const std::filesystem::path& input) {
  dedup::ThumbnailSource thumbnails = cache.open_thumbnails();
  if (thumbnails || cache.open_fingerprints()({}).size() == 0) return thumbnails;
  throw UsageError(
      input.string() +
      " has no thumbnails, so pictures cannot be compared; ingest it again with --thumbnails "
      "on, or name the data set itself");
}

void tell(const Session& session, const dedup::StoredIndex::Landmarks& landmarks) {
  if (landmarks.made == 0) return;
  const std::string made =
      fmt::format("landmarks of {} were computed", count_of(landmarks.made, "image"));
  say(session, landmarks.not_kept.empty()
                   ? made + " and are kept in the index"
                   : fmt::format("{}; they are not kept in the index ({}), so they will be "
                                 "computed again",
                                 made, landmarks.not_kept));
}

void stop_if_asked(const Session& session) {
  if (!is_asked_to_stop(session)) return;
  throw StoppedError(
      "stopped before the end; an index keeps the inputs added so far: run the same command again "
      "to continue");
}

void with_cache(const std::filesystem::path& input, const ReadingOptions& reading,
                const std::string& hash, const Session& session,
                const std::function<void(const pipeline::Cache&)>& use) {
  if (!is_data_set(input)) {
    const pipeline::Cache cache = pipeline::Cache::open(input);
    say_alpha_ignored(session, cache);
    use(cache);
    return;
  }
  const TemporaryFolder folder(std::filesystem::temp_directory_path());
  try {
    fingerprint_in_place(input, reading, {hash}, session, folder.path());
  } catch (const StoppedError&) {
    stop_if_asked(session);  // the folder may be gone
    throw;
  }
  use(pipeline::Cache::open(folder.path()));
}

}  // namespace winnow::app

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "app/session.h"
#include "app/sources/reading.h"
#include "dedup/index/index.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

// Caches and data sets to add to an index, or to look for in it.
struct IndexInputs {
  std::vector<std::filesystem::path> paths;
  ReadingOptions reading;  // for data sets
};

// Identifies a data set, independent of its path and its folder's name.
struct KnownSource {
  std::string format;
  std::string listing_hash;
};
std::vector<KnownSource> sources_of(const pipeline::Cache& cache);

// A known source that is also in the index.
struct SourceInIndex {
  std::uint32_t there = 0;     // place among the known ones
  std::uint32_t in_index = 0;  // place in the index, which may have it several times
};
std::vector<SourceInIndex> sources_in(const dedup::StoredIndex& index,
                                      std::span<const KnownSource> known);

// The thumbnails of an index, or of a cache or data set `input`. Throws UsageError if there are
// none; the message says what to do.
dedup::ThumbnailSource thumbnails_of(const dedup::StoredIndex& index);
dedup::ThumbnailSource thumbnails_of(const pipeline::Cache& cache,
                                     const std::filesystem::path& input);
// Reports what was stored of an index's landmarks.
void tell(const Session& session, const dedup::StoredIndex::Landmarks& landmarks);

// Throws StoppedError after a request to stop.
void stop_if_asked(const Session& session);

// Calls `use` with a cache, or with a temporary one of the fingerprints of a data set.
void with_cache(const std::filesystem::path& input, const ReadingOptions& reading,
                const std::string& hash, const Session& session,
                const std::function<void(const pipeline::Cache&)>& use);

}  // namespace winnow::app

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

// Caches and data sets to add to an index, or to look up in it.
struct IndexInputs {
  std::vector<std::filesystem::path> paths;
  ReadingOptions reading;  // how data sets are read
};

// Identifies a data set, independent of its path and its folder's name.
struct KnownSource {
  std::string format;
  std::string listing_hash;
};
std::vector<KnownSource> sources_of(const pipeline::Cache& cache);

// A data set that is in both: among `known`, and in the index.
struct SourceInIndex {
  std::uint32_t there = 0;  // number of the data set among `known`
  // Number of the data set in the index, which may contain it several times.
  std::uint32_t in_index = 0;
};
std::vector<SourceInIndex> sources_in(const dedup::StoredIndex& index,
                                      std::span<const KnownSource> known);

// Reads the thumbnails of an index, or those of a cache (or data set) `input`. Throws UsageError if
// it has none; the message says what to do.
dedup::ThumbnailSource thumbnails_of(const dedup::StoredIndex& index);
dedup::ThumbnailSource thumbnails_of(const pipeline::Cache& cache,
                                     const std::filesystem::path& input);
// Tells the user for how many images of an index landmarks (key points) were computed, and whether
// they could be stored.
void tell(const Session& session, const dedup::StoredIndex::Landmarks& landmarks);

// Throws StoppedError after a request to stop.
void stop_if_asked(const Session& session);

// Calls `use` with the cache `input`, or with a temporary cache with the fingerprints of the data
// set `input`.
void with_cache(const std::filesystem::path& input, const ReadingOptions& reading,
                const std::string& hash, const Session& session,
                const std::function<void(const pipeline::Cache&)>& use);

}  // namespace winnow::app

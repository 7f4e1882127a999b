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

// What is added to an index, or looked for in it: caches and data sets.
struct IndexInputs {
  std::vector<std::filesystem::path> paths;
  ReadingOptions reading;  // of data sets
};

// A data set as it tells itself from others, wherever it lies and whatever its folder is called.
struct KnownSource {
  std::string format;
  std::string listing_hash;
};
std::vector<KnownSource> sources_of(const pipeline::Cache& cache);

// A known source that the index has, too.
struct SourceInIndex {
  std::uint32_t there = 0;     // among the known ones
  std::uint32_t in_index = 0;  // one may be in it several times
};
std::vector<SourceInIndex> sources_in(const dedup::StoredIndex& index,
                                      std::span<const KnownSource> known);

// The thumbnails of an index, and of a cache or data set `input`. UsageError, which says what to
// do, where there are none.
dedup::ThumbnailSource thumbnails_of(const dedup::StoredIndex& index);
dedup::ThumbnailSource thumbnails_of(const pipeline::Cache& cache,
                                     const std::filesystem::path& input);
// Says what was made of the landmarks of an index.
void tell(const Session& session, const dedup::StoredIndex::Landmarks& landmarks);

// Throws StoppedError once a stop was asked for.
void stop_if_asked(const Session& session);

// Calls `use` with a cache, or with one of the fingerprints of a data set, which is gone
// afterwards.
void with_cache(const std::filesystem::path& input, const ReadingOptions& reading,
                const std::string& hash, const Session& session,
                const std::function<void(const pipeline::Cache&)>& use);

}  // namespace winnow::app

#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "app/session.h"
#include "common/json.h"
#include "pipeline/ingest/ingest.h"

namespace winnow::app {

// An ingest that is done, and what had been asked for.
struct IngestEnd {
  const std::filesystem::path& out;
  std::span<const pipeline::IngestSource> sources;
  const pipeline::IngestResult& result;
  bool retried = false;
  bool dropped = false;
};

// Tells people of it.
void say_end(const IngestEnd& end, const Session& session);
// docs/schemas/ingest.schema.json.
Json json_of(const IngestEnd& end);

// That images are to be turned by what EXIF says of them, and were not, and how their duplicates
// are found; empty where none is. `in_place`: of a data set that is deduplicated without a cache;
// empty, too, where a hash of all orientations was made.
std::string orientation_remark(const pipeline::IngestResult& result, bool in_place);

// That images have transparent pixels whose alpha was dropped, and the flag that keeps it; empty
// where none has.
std::string matte_remark(const pipeline::IngestResult& result);

// Null where nothing was done.
Json name_of_slowest(const pipeline::StageTimes& times);
std::uint64_t peak_rss_bytes();  // of this process

}  // namespace winnow::app

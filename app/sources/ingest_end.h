#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "app/session.h"
#include "common/json.h"
#include "pipeline/ingest/ingest.h"

namespace winnow::app {

// The result of a finished ingest, and the options it had.
struct IngestEnd {
  const std::filesystem::path& out;
  std::span<const pipeline::IngestSource> sources;
  const pipeline::IngestResult& result;
  bool retried = false;
  bool dropped = false;
};

// Prints the result of an ingest for people.
void say_end(const IngestEnd& end, const Session& session);
// The result of an ingest as JSON, by docs/schemas/ingest.schema.json.
Json json_of(const IngestEnd& end);

// A remark that images have an EXIF rotation that was not applied, and how their duplicates are
// found. Empty if there are no such images.
// in_place  for deduplication without a cache; the remark is then also empty if a hash covers all
//           orientations
std::string orientation_remark(const pipeline::IngestResult& result, bool in_place);

// A remark that the alpha channel of transparent images was dropped, and the option that keeps it.
// Empty if there are no such images.
std::string matte_remark(const pipeline::IngestResult& result);

// The name of the slowest stage of an ingest; null if nothing was done.
Json name_of_slowest(const pipeline::StageTimes& times);
std::uint64_t peak_rss_bytes();  // peak memory of this process

}  // namespace winnow::app

#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "app/session.h"
#include "common/json.h"
#include "pipeline/ingest/ingest.h"

namespace winnow::app {

// A finished ingest, and what was asked for.
struct IngestEnd {
  const std::filesystem::path& out;
  std::span<const pipeline::IngestSource> sources;
  const pipeline::IngestResult& result;
  bool retried = false;
  bool dropped = false;
};

// Prints it for people.
void say_end(const IngestEnd& end, const Session& session);
// JSON by docs/schemas/ingest.schema.json.
Json json_of(const IngestEnd& end);

// A remark: images have an EXIF rotation that was not applied, and how their duplicates are found.
// Empty if there are none.
// in_place  for a data set that is deduplicated without a cache; then also empty if there is a hash
//           of all orientations
std::string orientation_remark(const pipeline::IngestResult& result, bool in_place);

// A remark: the alpha of images with transparent pixels was dropped, and the flag that keeps it.
// Empty if there are none.
std::string matte_remark(const pipeline::IngestResult& result);

// Null if nothing was done.
Json name_of_slowest(const pipeline::StageTimes& times);
std::uint64_t peak_rss_bytes();  // peak of this process

}  // namespace winnow::app

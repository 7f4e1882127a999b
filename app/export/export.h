#pragma once

#include <filesystem>
#include <vector>

#include "app/dedup/decision.h"
#include "app/session.h"
#include "app/sources/reading.h"
#include "common/json.h"
#include "datasets/formats.h"
#include "pipeline/export/export.h"

namespace winnow::app {

struct ExportRequest {
  std::filesystem::path cache;  // or a data set
  std::filesystem::path to;
  std::string as;  // empty: a tree of a data set, an image folder of a cache
  std::string split;
  std::string link;
  pipeline::ExportOptions options;
  std::uint64_t shard_mib = 256;
  bool json = false;
};

// What is read and decided of a data set in place, and its options, which are for no cache.
struct InPlace {
  ReadingOptions reading;
  DecisionOptions flags;
  std::vector<std::string> words;  // of the command
  // The first flag that was said of those that are of a data set in place; empty: none was.
  std::string given;
};

// Writes the images of a cache, or what of a data set stays, for other programs.
void run_export(ExportRequest request, const InPlace& in_place, Session& session);

}  // namespace winnow::app

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
  std::filesystem::path cache;  // path of a cache or of a data set
  std::filesystem::path to;
  std::string as;  // output format; empty: a tree for a data set, an image folder for a cache
  std::string split;
  std::string link;
  pipeline::ExportOptions options;
  std::uint64_t shard_mib = 256;
  bool json = false;
};

// How a data set that is no cache is read and deduplicated before export. Not for caches.
struct InPlace {
  ReadingOptions reading;
  DecisionOptions flags;
  std::vector<std::string> words;  // words of the command line
  // The first option on the command line that is only for data sets read in place; empty: none.
  std::string given;
};

// Exports the images of a cache, or those that deduplication keeps of a data set, to a format that
// other programs read.
void run_export(ExportRequest request, const InPlace& in_place, Session& session);

}  // namespace winnow::app

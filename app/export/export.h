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
  std::string as;  // empty: a tree for a data set, an image folder for a cache
  std::string split;
  std::string link;
  pipeline::ExportOptions options;
  std::uint64_t shard_mib = 256;
  bool json = false;
};

// How a data set is read and decided in place. These options are not for caches.
struct InPlace {
  ReadingOptions reading;
  DecisionOptions flags;
  std::vector<std::string> words;  // the words of the command
  // The first flag given that is for data sets in place only; empty: none.
  std::string given;
};

// Writes the images of a cache, or those that a data set keeps, for other programs.
void run_export(ExportRequest request, const InPlace& in_place, Session& session);

}  // namespace winnow::app

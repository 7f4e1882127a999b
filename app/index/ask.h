#pragma once

#include <filesystem>

#include "app/dedup/decision.h"
#include "app/dedup/features.h"
#include "app/dedup/lists.h"
#include "app/sources/reading.h"
#include "common/json.h"
#include "dedup/index/index.h"

namespace winnow::app {

// Options for the HTML page about an index, and where its pictures are.
struct IndexPage {
  std::filesystem::path report;
  std::vector<std::filesystem::path> sources;
  ReadingOptions reading;  // how those sources are read that are data sets
};

struct IndexDedupRequest {
  std::filesystem::path index;
  DecisionOptions dedup;
  FeatureOptions features;
  std::string name = "default";
  ListPlaces lists;
  IndexPage page;
  bool json = false;
  std::vector<std::string> words;  // words of the command line
};

struct IndexInfoRequest {
  std::filesystem::path index;
  bool json = false;
};

// Finds duplicates among all images of an index.
void index_dedup(const IndexDedupRequest& request, const Session& session);

// Prints the content of an index.
void index_info(const IndexInfoRequest& request, const Session& session);

}  // namespace winnow::app

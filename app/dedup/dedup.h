#pragma once

#include <filesystem>

#include "app/dedup/decision.h"
#include "app/dedup/features.h"
#include "app/dedup/lists.h"
#include "app/session.h"
#include "app/sources/reading.h"
#include "datasets/formats.h"

namespace winnow::app {

// Options that decide, besides those that other verbs share.
struct Deciding {
  DecisionOptions flags;
  FeatureOptions features;
  std::string splits;  // name of a selection
  std::uint64_t self_check = 0;
};

struct DedupRequest {
  std::filesystem::path cache;  // or a data set
  ReadingOptions reading;       // for a data set
  std::string name = "default";
  Deciding deciding;
  ListPlaces lists;
  std::filesystem::path report;
  bool json = false;
  std::vector<std::string> words;  // the words of the command
};

// Finds duplicates: in a cache, as a selection; in a data set, as a list.
void run_dedup(const DedupRequest& request, Session& session);

}  // namespace winnow::app

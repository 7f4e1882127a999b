#pragma once

#include <filesystem>

#include "app/dedup/decision.h"
#include "app/dedup/features.h"
#include "app/dedup/lists.h"
#include "app/session.h"
#include "app/sources/reading.h"
#include "datasets/formats.h"

namespace winnow::app {

// Options of `winnow dedup` that decide, in addition to those that it shares with other verbs.
struct Deciding {
  DecisionOptions flags;
  FeatureOptions features;
  std::string splits;  // name of a selection whose splits are used
  std::uint64_t self_check = 0;
};

struct DedupRequest {
  std::filesystem::path cache;  // path of a cache or of a data set
  ReadingOptions reading;       // how the data set is read; not for a cache
  std::string name = "default";
  Deciding deciding;
  ListPlaces lists;
  std::filesystem::path report;
  bool json = false;
  std::vector<std::string> words;  // words of the command line
};

// Finds duplicates. For a cache it writes a selection, for a data set a list of removed images.
void run_dedup(const DedupRequest& request, Session& session);

}  // namespace winnow::app

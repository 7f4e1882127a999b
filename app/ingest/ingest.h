#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "app/dedup/decision.h"
#include "app/session.h"
#include "app/sources/reading.h"
#include "common/json.h"
#include "datasets/formats.h"

namespace winnow::app {

// Work besides a plain ingest.
struct Task {
  bool memory = false;
  bool retry = false;
  bool drop = false;
  bool estimate = false;
};

// When the ingest counts as failed.
struct GateOptions {
  std::string fail_on = "none";
  std::string max_bad;
};

// Reports, and where they go.
struct Output {
  std::filesystem::path report;
  std::vector<std::string> words;  // the words of the command
  bool json = false;
};

struct IngestRequest {
  std::vector<std::filesystem::path> sources;
  std::filesystem::path out;
  std::filesystem::path into;
  ReadingOptions flags;
  Task task;
  DecisionOptions drop_flags;
  GateOptions gate;
  Output output;
};

// Makes a cache from data sets, or adds to one. Collective.
void run_ingest(const IngestRequest& request, Session& session);

}  // namespace winnow::app

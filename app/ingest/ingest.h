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

// Options that change what an ingest does.
struct Task {
  bool memory = false;
  bool retry = false;
  bool drop = false;
  bool estimate = false;
};

// Options for when an ingest counts as failed.
struct GateOptions {
  std::string fail_on = "none";
  std::string max_bad;
};

// Options for reports and other output.
struct Output {
  std::filesystem::path report;
  std::vector<std::string> words;  // words of the command line
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

// Makes a cache from data sets, or adds data sets to a cache. Collective: all ranks call it.
void run_ingest(const IngestRequest& request, Session& session);

}  // namespace winnow::app

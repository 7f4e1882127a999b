#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/dedup/choice.h"
#include "app/session.h"
#include "app/tune/tune_report.h"
#include "common/json.h"
#include "pipeline/recall/recall.h"

namespace winnow::app {

struct TuneOutput {
  std::filesystem::path plot;
  std::filesystem::path report;
  bool json = false;
};

struct TuneRequest {
  std::filesystem::path cache;
  std::vector<std::string> hashes;
  int most = -1;
  ChoiceOptions demand;
  pipeline::RecallOptions recall;
  std::vector<std::filesystem::path> reviews;
  TuneOutput output;
};

// Shows how many duplicates each threshold would find in a cache.
void run_tune(const TuneRequest& request, const Session& session);

}  // namespace winnow::app

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/session.h"
#include "app/suspects/ranking.h"
#include "common/json.h"

namespace winnow::app {

// The evidence by which images are judged: a run with folds, or feature vectors.
struct Sources {
  std::filesystem::path run;
  std::string features;
};

struct SuspectOutput {
  std::filesystem::path list;
  std::filesystem::path report;
  std::filesystem::path drops;  // review file to write, which drops the listed images; empty: none
  bool json = false;
};

struct SuspectsRequest {
  std::filesystem::path cache;
  Sources sources;
  SuspectOptions how;
  std::string prune = "noise_rate";
  std::string order = "ratio";
  std::size_t top = 0;  // number of suspects to list; 0: all
  std::vector<std::filesystem::path> reviews;
  SuspectOutput output;
};

// Lists images whose label is probably wrong, and outliers.
void run_suspects(SuspectsRequest request, Session& session);

}  // namespace winnow::app

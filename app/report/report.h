#pragma once

#include <filesystem>
#include <vector>

#include "app/session.h"

namespace winnow::app {

struct ReportRequest {
  std::vector<std::filesystem::path> runs;
  std::filesystem::path out;
  std::filesystem::path cache;  // empty: the cache of the evaluation
};

// Writes a page about runs.
void run_report(const ReportRequest& request, const Session& session);

}  // namespace winnow::app

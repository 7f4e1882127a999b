#pragma once

#include <filesystem>
#include <vector>

#include "app/session.h"

namespace winnow::app {

struct ReportRequest {
  std::vector<std::filesystem::path> runs;
  std::filesystem::path out;
  // Cache for the pictures; empty: the one that the run was evaluated on.
  std::filesystem::path cache;
};

// Writes an HTML page about one or more training runs.
void run_report(const ReportRequest& request, const Session& session);

}  // namespace winnow::app

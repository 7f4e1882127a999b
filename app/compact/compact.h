#pragma once

#include <filesystem>

#include "app/session.h"
#include "common/json.h"
#include "pipeline/compact/compact.h"

namespace winnow::app {

struct CompactRequest {
  std::filesystem::path cache;
  std::filesystem::path out;
  pipeline::CompactOptions options;
  bool json = false;
};

// Takes what a selection removes out of a cache, into a new one.
void run_compact(const CompactRequest& request, Session& session);

}  // namespace winnow::app

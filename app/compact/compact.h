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

// Copies a cache without the images that a selection removes.
void run_compact(const CompactRequest& request, Session& session);

}  // namespace winnow::app

#pragma once

#include <filesystem>

#include "app/session.h"
#include "app/sources/reading.h"
#include "common/json.h"
#include "datasets/formats.h"

namespace winnow::app {

struct HashRequest {
  std::filesystem::path source;
  ReadingOptions flags;
  bool json = false;
};

// Prints hashes of a data set.
void run_hash(const HashRequest& request, const Session& session);

}  // namespace winnow::app

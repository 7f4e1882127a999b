#pragma once

#include <filesystem>

#include "app/session.h"
#include "common/json.h"

namespace winnow::app {

struct VerifyRequest {
  std::filesystem::path cache;
  std::string selection;
  bool json = false;
};

// Reads every byte of a cache, compares checksums, and reports damage.
void run_verify(const VerifyRequest& request, Session& session);

}  // namespace winnow::app

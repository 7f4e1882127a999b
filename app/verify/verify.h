#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/session.h"

namespace winnow::app {

struct VerifyRequest {
  std::filesystem::path cache;
  std::string selection;
  bool json = false;
};

// Reads every byte of a cache, and tells what is damaged.
void run_verify(const VerifyRequest& request, Session& session);

}  // namespace winnow::app

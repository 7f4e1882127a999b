#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/session.h"
#include "common/json.h"
#include "common/json_reader.h"
#include "dedup/review/review_log.h"

namespace winnow::app {

inline constexpr const char* kUsualName = "default";

struct ReviewRequest {
  std::filesystem::path cache;
  std::string name = kUsualName;
  std::filesystem::path review;  // empty: reviews/NAME.jsonl in the cache
  // Subjects to show instead of all groups.
  struct Instead {
    // pictures with these issues; empty list: with any
    std::optional<std::vector<std::string>> issues;
    std::uint64_t sample = 0;  // number of pairs; 0: none
    std::uint64_t seed = 0;    // seed of the sample
  };
  Instead instead;
  std::vector<std::filesystem::path> sources;
  int port = 0;
  bool json = false;
};

// Shows groups in a browser and records judgements until it is stopped.
void run_review(const ReviewRequest& request, Session& session);

}  // namespace winnow::app

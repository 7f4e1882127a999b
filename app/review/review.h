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
  // What is shown in place of all groups.
  struct Instead {
    std::optional<std::vector<std::string>> issues;  // pictures with these; none named: with any
    std::uint64_t sample = 0;                        // so many pairs; 0: none
    std::uint64_t seed = 0;                          // of these
  };
  Instead instead;
  std::vector<std::filesystem::path> sources;
  int port = 0;
  bool json = false;
};

// Shows groups in a browser and writes down what is said of them, until it is stopped.
void run_review(const ReviewRequest& request, Session& session);

}  // namespace winnow::app

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
  std::filesystem::path review;  // file of judgements; empty: reviews/NAME.jsonl in the cache
  // Subjects to show instead of all duplicate groups.
  struct Instead {
    // Single pictures with one of these issues; an empty list: with any issue.
    std::optional<std::vector<std::string>> issues;
    std::uint64_t sample = 0;  // number of pairs to sample; 0: no sample
    std::uint64_t seed = 0;    // random seed of the sampled pairs
  };
  Instead instead;
  std::vector<std::filesystem::path> sources;
  int port = 0;
  bool json = false;
};

// Shows duplicate groups in a browser and records the user's judgements until it is stopped.
void run_review(const ReviewRequest& request, Session& session);

}  // namespace winnow::app

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/dedup/choice.h"
#include "app/dedup/features.h"
#include "app/session.h"
#include "common/json.h"
#include "dedup/split/split.h"

namespace winnow::app {

struct ShareOptions {
  std::optional<double> train, val, test;
  std::vector<std::string> of;  // names of the splits whose samples are distributed anew
  std::uint32_t folds = 0;      // number of cross-validation folds, instead of shares; 0: no folds

  bool any() const noexcept { return train || val || test; }
};

struct SplitOutput {
  std::filesystem::path report;
  bool json = false;
};

struct MatchOptions {
  ChoiceOptions choice;
  FeatureOptions features;  // feature vectors to compare instead of hash codes
};

struct SplitRequest {
  std::filesystem::path cache;
  std::string name = "split";
  ShareOptions shares;
  MatchOptions compare;
  dedup::SplitOptions split;
  std::vector<std::filesystem::path> reviews;
  bool ignore_group_keys = false;
  SplitOutput output;
};

// Makes splits or cross-validation folds such that no picture is in two of them.
void run_split(const SplitRequest& request, Session& session);

}  // namespace winnow::app

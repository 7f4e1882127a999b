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
  std::vector<std::string> of;  // splits whose samples are distributed
  std::uint32_t folds = 0;      // instead of shares; 0: none

  bool any() const noexcept { return train || val || test; }
};

struct SplitOutput {
  std::filesystem::path report;
  bool json = false;
};

struct MatchOptions {
  ChoiceOptions choice;
  FeatureOptions features;  // instead of codes
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

// Makes splits, or folds, that share no pictures.
void run_split(const SplitRequest& request, Session& session);

}  // namespace winnow::app

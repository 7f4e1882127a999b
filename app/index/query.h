#pragma once

#include <filesystem>
#include <vector>

#include "app/dedup/choice.h"
#include "app/dedup/features.h"
#include "app/index/inputs.h"
#include "common/json.h"
#include "dedup/index/index.h"

namespace winnow::app {

struct IndexQueryRequest {
  std::filesystem::path index;
  IndexInputs inputs;
  ChoiceOptions choice;  // options for the index's own hash
  FeatureOptions features;
  bool fail_on_match = false;
  std::filesystem::path report;
  // Caches and data sets that have the pictures of the index.
  std::vector<std::filesystem::path> sources;
  bool json = false;
};

// Prints which images have a duplicate in an index.
void index_query(const IndexQueryRequest& request, const Session& session);

}  // namespace winnow::app

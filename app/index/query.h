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
  ChoiceOptions choice;  // for codes of the index's hash
  FeatureOptions features;
  bool fail_on_match = false;
  std::filesystem::path report;
  std::vector<std::filesystem::path> sources;  // where pictures of the index are
  bool json = false;
};

// Prints which images have a duplicate in the index.
void index_query(const IndexQueryRequest& request, const Session& session);

}  // namespace winnow::app

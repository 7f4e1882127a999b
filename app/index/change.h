#pragma once

#include <filesystem>
#include <optional>

#include "app/index/inputs.h"
#include "dedup/index/index.h"

namespace winnow::app {

struct IndexAddRequest {
  std::filesystem::path index;
  IndexInputs inputs;
  std::string hash;
  std::optional<int> radius;
};

struct IndexMergeRequest {
  std::filesystem::path index;
  std::filesystem::path other;
};

struct IndexDeleteRequest {
  std::filesystem::path index;
  std::vector<std::string> names;
  std::filesystem::path names_file;
  std::filesystem::path ids_file;
  std::optional<std::uint32_t> source;
};

// Adds caches or data sets. Creates the index if there is none.
void index_add(const IndexAddRequest& request, const Session& session);

// Adds the content of another index.
void index_merge(const IndexMergeRequest& request, const Session& session);

// Removes deleted images for good.
void index_compact(const std::filesystem::path& folder, const Session& session);

// Deletes images.
void index_delete(const IndexDeleteRequest& request, const Session& session);

}  // namespace winnow::app

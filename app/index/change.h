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

// Adds caches or data sets to an index. Creates the index if it does not exist.
void index_add(const IndexAddRequest& request, const Session& session);

// Adds the content of another index to an index.
void index_merge(const IndexMergeRequest& request, const Session& session);

// Removes the images that were deleted from an index for good, and frees their space.
void index_compact(const std::filesystem::path& folder, const Session& session);

// Deletes images from an index.
void index_delete(const IndexDeleteRequest& request, const Session& session);

}  // namespace winnow::app

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>

#include "common/sample.h"
#include "dedup/fingerprints.h"
#include "pipeline/store/cache.h"

namespace winnow::python {

// A cache that is open in the process that asks for it: LMDB's maps are not to be carried over a
// fork, so a child opens it anew. All calls are made with the interpreter's lock held.
class OpenCache {
 public:
  explicit OpenCache(std::filesystem::path root);
  OpenCache(const OpenCache&) = delete;
  OpenCache& operator=(const OpenCache&) = delete;
  ~OpenCache();

  const std::filesystem::path& root() const noexcept { return root_; }
  // DataError's FormatError where, in a child, another cache is in its place by now.
  std::shared_ptr<const pipeline::Cache> cache();
  // Ids and splits of all its rows.
  std::shared_ptr<const dedup::Fingerprints> rows();

 private:
  std::filesystem::path root_;
  std::filesystem::path found_at_;  // the same from any folder
  pid_t process_;
  std::shared_ptr<const pipeline::Cache> cache_;
  std::shared_ptr<const dedup::Fingerprints> rows_;
};

// The split of a cache that is called so. UsageError, which names them, where none is.
Split split_of(const std::string& name);

}  // namespace winnow::python

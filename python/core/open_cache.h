#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>

#include "common/sample.h"
#include "dedup/table/fingerprints.h"
#include "pipeline/store/cache.h"

namespace winnow::python {

// A cache that is open in the calling process. A forked child opens it anew, because LMDB's maps
// must not be used across a fork. All calls are made with the GIL (the interpreter's lock) held.
class OpenCache {
 public:
  explicit OpenCache(std::filesystem::path root);
  OpenCache(const OpenCache&) = delete;
  OpenCache& operator=(const OpenCache&) = delete;
  ~OpenCache();

  const std::filesystem::path& root() const noexcept { return root_; }
  // The open cache. Throws FormatError (Python's DataError) if, in a forked child, another cache
  // has taken its place.
  std::shared_ptr<const pipeline::Cache> cache();
  // A table with ids and splits of all samples.
  std::shared_ptr<const dedup::Fingerprints> rows();

 private:
  std::filesystem::path root_;
  std::filesystem::path found_at_;  // absolute path, independent of the working directory
  pid_t process_;
  std::shared_ptr<const pipeline::Cache> cache_;
  std::shared_ptr<const dedup::Fingerprints> rows_;
};

// The split with this name. Throws UsageError, which lists the names.
Split split_of(const std::string& name);

}  // namespace winnow::python

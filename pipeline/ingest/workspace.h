#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "common/file.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {

// The folder of a cache that is being made. Its file `unfinished`, locked by the running process,
// exists from before the first byte until after the manifest. Without a lock it marks the remains
// of an ended run.
class Workspace {
 public:
  // Creates `out`, or takes over an unfinished run in it: its content is kept if its marker is
  // equal, else cleared. `marker` is written into the file `unfinished`.
  // Errors  UsageError if the folder holds a finished cache or anything else, or another run is at
  //         work
  static Workspace claim(const std::filesystem::path& out, const std::string& marker);

  // Throws what claim() would throw, as far as that is known without changing anything.
  static void check_is_free(const std::filesystem::path& out);

  // Opens a finished cache to add shards. It remains valid until its manifest is replaced; readers
  // are not disturbed. The remains of an earlier run are kept if its marker is equal, else removed.
  // If that run had replaced the manifest, its last steps are completed.
  // Errors  UsageError if another run is at work
  static Workspace reopen(const std::filesystem::path& out, const Manifest& manifest,
                          const std::string& marker);

  const CachePaths& paths() const noexcept { return paths_; }
  // True if the ended run had already written the manifest, so that only finish() is left.
  bool complete() const noexcept { return complete_; }

  // Creates the folder of the shards, unless it exists: in the cache, or on tmpfs with a link in
  // the cache. Its name on tmpfs is made from the user, the cache's path and `content`.
  void make_shards_folder();
  void make_shards_folder_in_memory(const std::string& content);

  // Removes shards that the new manifest of a reopened cache does not name.
  void keep_only(const Manifest& manifest);
  void finish();            // call it when the manifest is in place
  void abandon() noexcept;  // removes everything except what existed when the cache was reopened

 private:
  Workspace(CachePaths paths, Fd lock, bool made_folder, bool complete)
      : paths_(std::move(paths)),
        lock_(std::move(lock)),
        made_folder_(made_folder),
        complete_(complete) {}
  void remove_what_was_added() const;

  CachePaths paths_;
  Fd lock_;
  bool made_folder_;
  bool complete_;
  bool reopened_ = false;
  std::set<std::string> sealed_;  // shard files that existed when the cache was reopened
};

}  // namespace winnow::pipeline

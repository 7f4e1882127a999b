#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "common/file.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {

// A cache directory that is being made. It carries a file `unfinished`, locked while somebody works
// there, from before the first byte until after the manifest; what a run that died left behind is
// known by it.
class Workspace {
 public:
  // Makes `out`, or takes over what an unfinished run left there: kept where its marker is the
  // same, cleared otherwise. Throws UsageError when it holds a finished cache, something else, or
  // another run is at work. `marker` is written into the file.
  static Workspace claim(const std::filesystem::path& out, const std::string& marker);

  // Throws what claim() would where a mere look tells, and changes nothing.
  static void check_is_free(const std::filesystem::path& out);

  // Opens a finished cache for more shards. It stays what it is until its manifest is replaced:
  // readers see nothing of what is going on. What an earlier one left is kept where its marker is
  // the same, else removed; where that had replaced the manifest, its end is caught up on.
  // UsageError when another run is at work.
  static Workspace reopen(const std::filesystem::path& out, const Manifest& manifest,
                          const std::string& marker);

  const CachePaths& paths() const noexcept { return paths_; }
  // The run that died had put the manifest in place: only finish() is left to do.
  bool complete() const noexcept { return complete_; }

  // Makes the folder of the shards, in the cache, or on tmpfs and a link to it, unless it was kept.
  // Its name there is made of the user, the cache's path and `content`.
  void make_shards_folder();
  void make_shards_folder_in_memory(const std::string& content);

  // The manifest that replaced that of a cache which was reopened has these shards and no others.
  void keep_only(const Manifest& manifest);
  void finish();            // the manifest is in place
  void abandon() noexcept;  // removes everything again, but what was there when it was reopened

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
  std::set<std::string> sealed_;  // files of shards that were there when it was reopened
};

}  // namespace winnow::pipeline

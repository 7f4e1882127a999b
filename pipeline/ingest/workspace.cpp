#include "pipeline/ingest/workspace.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>

#include "common/checksum.h"
#include "common/error.h"
#include "common/failpoint.h"
#include "pipeline/ingest/assemble.h"
#include "pipeline/ingest/ingest.h"
#include "pipeline/ingest/part.h"
#include "pipeline/store/memory.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

bool path_exists(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type() != fs::file_type::not_found;
}

void remove_shards(const CachePaths& paths) {
  if (fs::is_symlink(paths.shards())) {
    const fs::path target = fs::read_symlink(paths.shards());
    if (is_our_memory(target)) remove_tree(target);
    remove_file(paths.shards());
  } else {
    remove_tree(paths.shards());
  }
}

// Removes only what winnow puts into a cache: durably the manifest first, so that a partial cache
// is never taken for a complete one.
void remove_files(const CachePaths& paths) {
  remove_file(paths.manifest());
  fsync_directory(paths.root);
  remove_shards(paths);
  for (const char* name : {"fingerprints", "parts", "selections"}) remove_tree(paths.root / name);
  for (const char* name : {"alpha", "alpha.tmp", "ledger.jsonl", "ledger.jsonl.tmp",
                           "manifest.json.tmp", "shards.tmp", "report.html", "report.html.tmp"}) {
    remove_file(paths.root / name);
  }
}

[[noreturn]] void refuse_finished(const fs::path& out) {
  throw UsageError(out.string() +
                   " already contains a finished cache; remove it, choose another --out, or retry "
                   "its unreadable inputs with --retry-failed");
}

bool same_file(const Fd& fd, const fs::path& path) {
  struct stat opened {};
  struct stat there {};
  return ::fstat(fd.get(), &opened) == 0 && ::stat(path.c_str(), &there) == 0 &&
         opened.st_ino == there.st_ino && opened.st_dev == there.st_dev;
}

// The locked marker file; creates it if there is none.
Fd lock_marker(const CachePaths& paths) {
  for (;;) {
    if (fault_before("file.create", paths.unfinished())) {
      throw_errno("cannot open " + paths.unfinished().string());
    }
    Fd fd(::open(paths.unfinished().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (!fd) throw_errno("cannot open " + paths.unfinished().string());
    fault_after("file.create", paths.unfinished());
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) throw_errno("cannot lock " + paths.unfinished().string());
      throw UsageError("another winnow is working in " + paths.root.string() +
                       "; wait for it or choose another --out");
    }
    // Its holder may have finished and removed it between the two calls.
    if (same_file(fd, paths.unfinished())) return fd;
  }
}

void write_marker(const Fd& fd, const fs::path& path, const std::string& text) {
  const bool good =
      !fault_before("file.write", path) && ::ftruncate(fd.get(), 0) == 0 &&
      ::pwrite(fd.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
  if (!good) throw_errno("cannot write " + path.string());
  fault_after("file.write", path);
}

}  // namespace

void Workspace::check_is_free(const fs::path& out) {
  const CachePaths paths{out};
  std::error_code ignored;
  if (path_exists(out) && !fs::is_directory(out, ignored)) {
    throw UsageError(out.string() + " is not a folder; choose another --out");
  }
  if (path_exists(paths.manifest()) && !path_exists(paths.unfinished())) refuse_finished(out);
  if (path_exists(out) && !path_exists(paths.unfinished()) && !fs::is_empty(out)) {
    throw UsageError(out.string() +
                     " is not empty and was not made by winnow; choose another --out");
  }
}

Workspace Workspace::claim(const fs::path& out, const std::string& marker) {
  check_is_free(out);
  const CachePaths paths{out};
  const bool made = !path_exists(out);
  make_directories(out);
  Fd lock = lock_marker(paths);
  const std::string found = read_text(paths.unfinished());
  const bool complete = path_exists(paths.manifest());
  if (complete && found != marker) {
    // Empty: created by the line above, because the other run finished while this one waited.
    if (found.empty()) remove_file(paths.unfinished());
    refuse_finished(out);
  }
  if (found != marker) {
    remove_files(paths);
    write_marker(lock, paths.unfinished(), marker);
  }
  fsync_file(paths.unfinished());  // its writer may have died before syncing
  fsync_directory(out);
  return {paths, std::move(lock), made, complete};
}

Workspace Workspace::reopen(const fs::path& out, const Manifest& manifest,
                            const std::string& marker) {
  const CachePaths paths{out};
  Workspace workspace(paths, lock_marker(paths), /*made_folder=*/false, /*complete=*/false);
  workspace.reopened_ = true;
  for (const ShardInfo& shard : manifest.shards) workspace.sealed_.insert(shard.file);
  settle(paths, manifest);
  if (read_text(paths.unfinished()) != marker) {
    workspace.remove_what_was_added();
    write_marker(workspace.lock_, paths.unfinished(), marker);
  }
  fsync_file(paths.unfinished());
  fsync_directory(out);
  return workspace;
}

void Workspace::remove_what_was_added() const {
  remove_tree(parts_folder(paths_));
  std::error_code none;
  for (const auto& file : fs::directory_iterator(paths_.shards(), none)) {
    const std::string name = "shards/" + file.path().filename().string();
    if (!sealed_.contains(name)) remove_file(file.path());
  }
  for (const auto& file : fs::directory_iterator(paths_.fingerprints().parent_path(), none)) {
    if (file.path() != paths_.fingerprints()) remove_file(file.path());
  }
}

void Workspace::make_shards_folder() { make_directories(paths_.shards()); }

void Workspace::make_shards_folder_in_memory(const std::string& content) {
  const std::string name = content + '\0' + fs::weakly_canonical(paths_.root).string();
  const fs::path folder =
      fs::path(kMemoryFolder) / (memory_prefix() + to_hex(xxh3_64(as_bytes(name))));
  if (fs::is_symlink(paths_.shards()) && fs::read_symlink(paths_.shards()) == folder &&
      is_our_memory(folder)) {
    return;
  }
  // Only this cache uses the name, and the marker is locked: anything there is from a dead run.
  if (is_our_memory(folder)) remove_tree(folder);
  if (fault_before("dir.create", folder) || ::mkdir(folder.c_str(), 0700) != 0) {
    throw_errno("cannot make the folder " + folder.string());
  }
  fault_after("dir.create", folder);
  replace_symlink(paths_.shards(), folder);
}

void Workspace::keep_only(const Manifest& manifest) {
  sealed_.clear();
  for (const ShardInfo& shard : manifest.shards) sealed_.insert(shard.file);
  remove_what_was_added();
}

void Workspace::finish() {
  remove_tree(parts_folder(paths_));
  remove_file(paths_.unfinished());
  fsync_directory(paths_.root);
}

void Workspace::abandon() noexcept {
  try {
    if (reopened_) {
      remove_what_was_added();
      remove_file(paths_.unfinished());
      return;
    }
    remove_files(paths_);
    remove_file(paths_.unfinished());
    if (made_folder_ && fs::is_empty(paths_.root)) fs::remove(paths_.root);
  } catch (const std::exception&) {  // the next run finds the marker and cleans up
    return;
  }
}

void remove_cache(const fs::path& root) {
  const CachePaths paths{root};
  if (!path_exists(paths.manifest()) && !path_exists(paths.unfinished())) {
    throw UsageError(root.string() + " is not a winnow cache; nothing was removed");
  }
  const std::optional<Fd> unused = lock_unused(paths.shards());
  if (!unused) {
    throw UsageError("nothing of " + root.string() + " was removed: " +
                     in_words(users_of(paths.shards())) + "; wait for it, or end it");
  }
  // With the marker in place, an interrupted removal leaves an unfinished cache, not a broken one.
  const Fd lock = lock_marker(paths);
  fsync_directory(root);
  remove_files(paths);
  remove_file(paths.unfinished());
  std::error_code ignored;
  fs::remove(root, ignored);  // fails, as it should, if the user has other files there
}

}  // namespace winnow::pipeline

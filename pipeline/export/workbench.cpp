#include "pipeline/export/workbench.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "common/error.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;

fs::path with_a_name(const fs::path& path) {
  fs::path plain = path.lexically_normal();
  if (plain == "." || plain.filename() == "..") plain = fs::absolute(path).lexically_normal();
  return plain.has_filename() || !plain.has_parent_path() ? plain : plain.parent_path();
}

void check_is_free(const fs::path& to, bool folder) {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(to, error).type();
  if (type == fs::file_type::not_found) return;
  if (folder && type == fs::file_type::directory && fs::is_empty(to, error) && !error) return;
  throw UsageError(
      to.string() +
      " already exists, and an export overwrites nothing; choose another place, or move it away");
}

void check_are_apart(const fs::path& one, const fs::path& other) {
  const fs::path a = fs::weakly_canonical(with_a_name(one));
  const fs::path b = fs::weakly_canonical(with_a_name(other));
  const auto [end_of_a, end_of_b] = std::ranges::mismatch(a, b);
  if (end_of_a != a.end() && end_of_b != b.end()) return;
  throw UsageError(one.string() + " and " + other.string() +
                   " would be inside one another; name two separate folders");
}

Workbench::Workbench(fs::path to) : to_(std::move(to)), root_(to_.string() + ".export") {
  const fs::path marker = root_ / "unfinished";
  std::error_code ignored;
  const bool left = fs::exists(root_, ignored);
  if (left && !fs::exists(marker, ignored) && !fs::is_empty(root_, ignored)) {
    throw UsageError(root_.string() + ", the temporary folder of an export to " + to_.string() +
                     ", already exists and was not made by an export; move it away");
  }
  make_directories(root_);
  lock_ = lock_directory(root_);
  try {
    if (left) remove_tree(content());
    write_file_durably(marker, "winnow is exporting here, or was killed while it did.\n");
    make_directories(content());
  } catch (...) {
    fs::remove_all(root_, ignored);
    throw;
  }
}

// The lock is released after everything is removed.
Workbench::~Workbench() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

void Workbench::finish() {
  sync_file_system(content());
  check_is_free(to_, true);
  std::error_code error;
  fs::remove(to_, error);  // it is an empty folder
  rename_directory(content(), to_);
}

}  // namespace winnow::pipeline

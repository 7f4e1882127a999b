#pragma once

#include <filesystem>

#include "common/file.h"

namespace winnow::pipeline {

// The path in a form to which a suffix can be appended: "out/" becomes "out", "." the folder's
// name.
std::filesystem::path with_a_name(const std::filesystem::path& path);

// Throws UsageError if something exists at `to`; an empty folder is allowed if a folder will be
// made.
void check_is_free(const std::filesystem::path& to, bool folder);

// Throws UsageError if two folders that will be made are equal, or one lies in the other.
void check_are_apart(const std::filesystem::path& one, const std::filesystem::path& other);

// The temporary folder TO.export beside `to`, in which an export is made. It has a file
// `unfinished`, locked while the export runs, and the folder that will be moved to `to`. Removed by
// the destructor. Remains of a killed export are removed first. Throws UsageError if something else
// has that name, or another export is running.
class Workbench {
 public:
  explicit Workbench(std::filesystem::path to);  // `to` as returned by with_a_name()
  Workbench(const Workbench&) = delete;
  Workbench& operator=(const Workbench&) = delete;
  ~Workbench();

  std::filesystem::path content() const { return root_ / "content"; }
  // Moves content() to `to`, durably, after check_is_free().
  void finish();

 private:
  const std::filesystem::path to_;
  const std::filesystem::path root_;
  Fd lock_;
};

}  // namespace winnow::pipeline

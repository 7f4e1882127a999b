#pragma once

#include <filesystem>

#include "common/file.h"

namespace winnow::pipeline {

// A path to which a suffix can be appended: "out/" becomes "out", "." the name of the folder.
std::filesystem::path with_a_name(const std::filesystem::path& path);

// UsageError unless nothing exists at `to`, or an empty folder if a folder will be made.
void check_is_free(const std::filesystem::path& to, bool folder);

// UsageError if two folders to be made are equal, or one lies in the other.
void check_are_apart(const std::filesystem::path& one, const std::filesystem::path& other);

// The folder TO.export beside `to` in which an export is made. Contains a file `unfinished`, locked
// while the export runs, and the folder that will be moved to `to`. Removed with this object.
// The remains of a killed export are removed first. UsageError if something else is there, or
// another export is running.
class Workbench {
 public:
  explicit Workbench(std::filesystem::path to);  // in the form of with_a_name()
  Workbench(const Workbench&) = delete;
  Workbench& operator=(const Workbench&) = delete;
  ~Workbench();

  std::filesystem::path content() const { return root_ / "content"; }
  // Moves content() to `to`, durably; check_is_free() first.
  void finish();

 private:
  const std::filesystem::path to_;
  const std::filesystem::path root_;
  Fd lock_;
};

}  // namespace winnow::pipeline

#pragma once

#include <filesystem>

#include "common/file.h"

namespace winnow::pipeline {

// Where a name can be put beside: "out/" is "out", "." the folder it is.
std::filesystem::path with_a_name(const std::filesystem::path& path);

// UsageError unless there is nothing at `to`, or, where a folder is to be, an empty one.
void check_is_free(const std::filesystem::path& to, bool folder);

// UsageError where one of two folders to be made would be the other, or lie in it.
void check_are_apart(const std::filesystem::path& one, const std::filesystem::path& other);

// The folder TO.export beside `to` in which an export is made: a file `unfinished`, locked as long
// as somebody works there, and the folder that will be at `to`. Gone when this is. What a killed
// export left there is removed first; UsageError where something else is there, or another export
// is at work.
class Workbench {
 public:
  explicit Workbench(std::filesystem::path to);  // with_a_name()
  Workbench(const Workbench&) = delete;
  Workbench& operator=(const Workbench&) = delete;
  ~Workbench();

  std::filesystem::path content() const { return root_ / "content"; }
  // Puts content() at `to`, durably; check_is_free() first.
  void finish();

 private:
  const std::filesystem::path to_;
  const std::filesystem::path root_;
  Fd lock_;
};

}  // namespace winnow::pipeline

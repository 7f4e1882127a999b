#pragma once

#include <filesystem>
#include <initializer_list>
#include <string_view>

#include "common/bytes.h"

namespace winnow::fuzz {

// A folder of this process in TMPDIR (default /tmp), for parsers of files.
// Emptied when created. Removed at the end of the process, unless it crashes.
class Folder {
 public:
  // Creates files of these names, with a few bytes each.
  explicit Folder(std::initializer_list<std::string_view> files = {});
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  // Writes a file and the folders above it. Returns its path.
  std::filesystem::path write(std::string_view name, BytesView bytes) const;

 private:
  std::filesystem::path path_;
};

}  // namespace winnow::fuzz

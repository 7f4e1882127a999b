#pragma once

#include <filesystem>
#include <initializer_list>
#include <string_view>

#include "common/bytes.h"

namespace winnow::fuzz {

// A folder of this process below TMPDIR (else /tmp), for parsers of files. Emptied when it is made;
// gone at the end of the process, unless that crashes.
class Folder {
 public:
  // With files of these names, of a few bytes each.
  explicit Folder(std::initializer_list<std::string_view> files = {});
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  // Makes a file, and the folders it is in; returns where it is.
  std::filesystem::path write(std::string_view name, BytesView bytes) const;

 private:
  std::filesystem::path path_;
};

}  // namespace winnow::fuzz

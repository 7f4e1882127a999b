#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "common/sample.h"

namespace winnow::pipeline {

// Names for files and folders that are made from names that may have come from anywhere.

// `text` as one part of a path that stays where it is put and that a reader of image folders does
// not pass over: no slashes, backslashes or control characters ('_' stands for them), no "..", not
// hidden, not empty, at most 255 bytes.
std::string safe_part(std::string_view text);

// The name of a sample's file: the last part of what its source calls it, made safe, ending in
// `ending` (".png") where it does not end as an image does, or `replace` is set.
std::string file_name(std::string_view sample, std::string_view ending, bool replace);

// The path of what its source calls `sample`, to be put below a folder: its parts as they are, also
// hidden ones. It stays below that folder: ".." becomes "_..", empty parts and "." are left out, a
// part is cut at 255 bytes.
struct TreePath {
  std::string folder;  // "a/b", or ""
  std::string name;
};
TreePath tree_path(std::string_view sample);

// safe_part of each, different for each: one that is taken gets "-2", "-3" ... at its end.
std::vector<std::string> folder_names(const std::vector<std::string>& names);

// Hands out paths no two of which are the same: one that is taken gets "-ID" before its ending.
// What is handed out depends on the order of the calls alone. Some bytes a path are held.
class UniquePaths {
 public:
  std::string claim(const std::string& folder, const std::string& name, SampleId id);

 private:
  std::unordered_set<std::uint64_t> taken_;  // hashes: two that are equal cost a suffix, no more
};

}  // namespace winnow::pipeline

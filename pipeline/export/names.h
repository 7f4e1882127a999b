#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "common/sample.h"

namespace winnow::pipeline {

// Safe names for files and folders, made from names of any origin.

// `text` as a single safe part of a path, which readers of image folders do not skip: '_' replaces
// slashes, backslashes and control characters; no "..", not hidden, not empty, at most 255 bytes.
std::string safe_part(std::string_view text);

// The file name of a sample: the last part of its name, made safe. `ending` (".png") is added if it
// has no image ending, or if `replace` is set.
std::string file_name(std::string_view sample, std::string_view ending, bool replace);

// The relative path of a sample's name, to be placed below a folder: its parts as they are, hidden
// ones too. It cannot leave that folder: ".." becomes "_..", empty parts and "." are dropped, and
// parts are cut at 255 bytes.
struct TreePath {
  std::string folder;  // "a/b", or ""
  std::string name;
};
TreePath tree_path(std::string_view sample);

// safe_part() of each, made unique: repeated names get the suffix "-2", "-3" ...
std::vector<std::string> folder_names(const std::vector<std::string>& names);

// Makes paths unique: a repeated path gets "-ID" before its ending. Results depend on the order of
// the calls only. Holds some bytes a path.
class UniquePaths {
 public:
  std::string claim(const std::string& folder, const std::string& name, SampleId id);

 private:
  std::unordered_set<std::uint64_t> taken_;  // hashes: a collision only costs a needless suffix
};

}  // namespace winnow::pipeline

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "common/sample.h"

namespace winnow::pipeline {

// Makes safe names for files and folders from names of any origin.

// `text` as one safe part of a path that readers of image folders do not skip: '_' replaces
// slashes, backslashes and control characters; not "..", not hidden, not empty, at most 255 bytes.
std::string safe_part(std::string_view text);

// The file name of a sample: the last part of its name, made safe. The extension `ending` (".png")
// is added if the name has no image extension, or replaces it if `replace` is set.
std::string file_name(std::string_view sample, std::string_view ending, bool replace);

// The relative path of a sample below an export folder, from its name: all parts as they are,
// hidden ones too. It cannot leave the folder: ".." becomes "_..", empty parts and "." are dropped,
// and parts are cut at 255 bytes.
struct TreePath {
  std::string folder;  // "a/b", or ""
  std::string name;
};
TreePath tree_path(std::string_view sample);

// safe_part() of each name, made unique: repeated names get the suffix "-2", "-3" ...
std::vector<std::string> folder_names(const std::vector<std::string>& names);

// Makes file paths unique: a repeated path gets "-ID" before its extension. Results depend on the
// order of the calls only. Needs some bytes of memory per path.
class UniquePaths {
 public:
  std::string claim(const std::string& folder, const std::string& name, SampleId id);

 private:
  // Hashes of the paths that are taken; a collision only costs a needless suffix.
  std::unordered_set<std::uint64_t> taken_;
};

}  // namespace winnow::pipeline

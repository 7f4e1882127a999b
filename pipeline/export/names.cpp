#include "pipeline/export/names.h"

#include <algorithm>
#include <set>

#include "common/bytes.h"
#include "common/checksum.h"
#include "datasets/layout.h"

namespace winnow::pipeline {
namespace {

constexpr std::size_t kPartBytes = 255;  // limit of a path component on usual file systems

// The parts of a file name: "a.tar.png" is {"a.tar", ".png"}. Only an image's ending counts.
struct Stem {
  std::string_view stem;
  std::string_view ending;
};

Stem split_name_of(std::string_view name) {
  if (!datasets::is_image_name(name)) return {name, ""};
  const std::size_t dot = name.rfind('.');
  return {name.substr(0, dot), name.substr(dot)};
}

// stem + more, with the stem shortened if that is too long.
std::string fitted(std::string_view stem, const std::string& more) {
  return std::string(stem.substr(0, kPartBytes - std::min(kPartBytes, more.size()))) + more;
}

}  // namespace

std::string safe_part(std::string_view text) {
  std::string out(text);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto byte = static_cast<unsigned char>(out[i]);
    const unsigned char next = i + 1 < out.size() ? static_cast<unsigned char>(out[i + 1]) : 0;
    const bool c1_control = byte == 0xC2 && next >= 0x80 && next < 0xA0;
    if (c1_control) out[i + 1] = '_';
    if (byte < 0x20 || byte == 0x7F || byte == '/' || byte == '\\' || c1_control) out[i] = '_';
  }
  // Including "." and "..".
  if (out.empty() || datasets::is_passed_over(out)) out.insert(0, 1, '_');
  return fitted(out, "");
}

std::string file_name(std::string_view sample, std::string_view ending, bool replace) {
  const std::size_t last = sample.find_last_of('/');
  const std::string safe = safe_part(last == sample.npos ? sample : sample.substr(last + 1));
  const Stem name = split_name_of(safe);
  if (!name.ending.empty() && !replace) return safe;
  return fitted(name.stem, std::string(ending));
}

TreePath tree_path(std::string_view sample) {
  TreePath path;
  for (std::size_t begin = 0; begin < sample.size();) {
    const std::size_t end = std::min(sample.find('/', begin), sample.size());
    std::string part(sample.substr(begin, end - begin));
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..") part = "_..";
    std::ranges::replace(part, '\0', '_');
    if (!path.name.empty()) path.folder += (path.folder.empty() ? "" : "/") + path.name;
    const Stem stem = split_name_of(part);
    path.name = fitted(stem.stem, std::string(stem.ending));
  }
  if (path.name.empty()) path.name = "_";
  return path;
}

std::vector<std::string> folder_names(const std::vector<std::string>& names) {
  std::set<std::string> taken;
  std::vector<std::string> out;
  for (const std::string& name : names) {
    const std::string safe = safe_part(name);
    std::string unique = safe;
    for (int n = 2; !taken.insert(unique).second; ++n) {
      unique = fitted(safe, "-" + std::to_string(n));
    }
    out.push_back(unique);
  }
  return out;
}

std::string UniquePaths::claim(const std::string& folder, const std::string& name, SampleId id) {
  const Stem parts = split_name_of(name);
  const std::string prefix = folder.empty() ? "" : folder + "/";
  std::string path = prefix + name;
  std::string suffix;
  while (!taken_.insert(xxh3_64(as_bytes(path))).second) {
    suffix += "-" + std::to_string(id);
    path = prefix + fitted(parts.stem, suffix + std::string(parts.ending));
  }
  return path;
}

}  // namespace winnow::pipeline

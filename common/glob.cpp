#include "common/glob.h"

#include <fnmatch.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace winnow {
namespace {

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = path.find('/', begin);
    parts.emplace_back(path.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

}  // namespace

bool glob_fits(const std::string& glob, std::string_view path) {
  const std::vector<std::string> wanted = parts_of(glob);
  const std::vector<std::string> parts = parts_of(path);
  // Whether the pattern parts so far match the first i parts.
  std::vector<bool> fits(parts.size() + 1, false);
  fits[0] = true;
  for (std::size_t w = 0; w < wanted.size(); ++w) {
    const bool any = wanted[w] == "**";
    const bool at_least_one = any && w + 1 == wanted.size();
    std::vector<bool> next(fits.size(), false);
    next[0] = any && !at_least_one && fits[0];
    for (std::size_t i = 1; i < fits.size(); ++i) {
      if (any) {
        next[i] = next[i - 1] || fits[i - 1] || (!at_least_one && fits[i]);
      } else {
        next[i] = fits[i - 1] && ::fnmatch(wanted[w].c_str(), parts[i - 1].c_str(), 0) == 0;
      }
    }
    fits = std::move(next);
  }
  return fits.back();
}

}  // namespace winnow

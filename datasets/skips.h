#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/source.h"

namespace winnow::datasets {

// Whether one part of a path was added by a NAS or an operating system: @eaDir, #recycle,
// .snapshot, __MACOSX, lost+found, Thumbs.db, ._NAME and so on.
bool is_of_system(std::string_view name);

// The reason to skip a path (relative to the source, with '/' between parts) by its name; nullopt
// if it is taken. Judges the last part only; globs of `exclude` match it or the whole path. Pure;
// thread-safe.
std::optional<std::string_view> skip_reason(std::string_view path, const OpenOptions& options);

// As skip_reason(), but judges all parts of the path.
std::optional<std::string_view> skip_reason_anywhere(std::string_view path,
                                                     const OpenOptions& options);

// Counts what was skipped in a source, by reason.
class Skips {
 public:
  void add(std::string_view reason);
  void add_no_image(std::string_view path);  // counted by its ending
  void add(const Skips& other);
  std::vector<Skipped> rows() const;
  // "; skipped: hidden (2), files that are not images (13: 12 .txt, 1 others)", or "".
  std::string note() const;

 private:
  std::map<std::string, std::uint64_t, std::less<>> reasons_;
  // Counts of files that are no images, by ending.
  std::map<std::string, std::uint64_t, std::less<>> endings_;
};

}  // namespace winnow::datasets

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/source.h"

namespace winnow::datasets {

// For one part of a path: a folder or a file that a NAS or an operating system adds beside the
// user's (@eaDir, #recycle, .snapshot, __MACOSX, lost+found, Thumbs.db, ._NAME and so on).
bool is_of_system(std::string_view name);

// Why what lies at `path`, relative to the source and '/' between parts, is passed over by its
// name; nothing where it is taken. Only the last part is judged, globs of `exclude` against it or
// all of the path. Pure; safe from many threads.
std::optional<std::string_view> passed_over(std::string_view path, const OpenOptions& options);

// The same for a path of which no part was judged before.
std::optional<std::string_view> passed_over_anywhere(std::string_view path,
                                                     const OpenOptions& options);

// Counts what was passed over in a source, by reason.
class Skips {
 public:
  void add(std::string_view reason);
  void add_no_image(std::string_view path);  // by its ending
  void add(const Skips& other);
  std::vector<Skipped> rows() const;
  // "; passed over: hidden (2), no images by their names (13: 12 .txt, 1 others)", or "".
  std::string note() const;

 private:
  std::map<std::string, std::uint64_t, std::less<>> reasons_;
  std::map<std::string, std::uint64_t, std::less<>> endings_;  // of what is no image
};

}  // namespace winnow::datasets

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/source.h"

namespace winnow::datasets {

// Whether a name of a file or folder is one that a NAS or an operating system adds: @eaDir,
// #recycle, .snapshot, __MACOSX, lost+found, Thumbs.db, ._NAME and so on.
bool is_of_system(std::string_view name);

// Why a path of a data set is skipped because of its name; nullopt if it is not. Only looks at the
// last part; the globs options.exclude match that part or the whole path. Paths are relative to the
// data set, with '/' between parts. Pure; thread-safe.
std::optional<std::string_view> skip_reason(std::string_view path, const OpenOptions& options);

// Like skip_reason(), but looks at all parts of the path.
std::optional<std::string_view> skip_reason_anywhere(std::string_view path,
                                                     const OpenOptions& options);

// Counts the files and folders of a data set that were skipped, by reason.
class Skips {
 public:
  void add(std::string_view reason);
  void add_no_image(std::string_view path);  // counted by its ending
  void add(const Skips& other);
  std::vector<Skipped> rows() const;
  // Counts in words: "; skipped: hidden (2), files that are not images (13: 12 .txt, 1 others)".
  // Empty if nothing was skipped.
  std::string note() const;

 private:
  std::map<std::string, std::uint64_t, std::less<>> reasons_;
  // Numbers of files that are no images, by ending.
  std::map<std::string, std::uint64_t, std::less<>> endings_;
};

}  // namespace winnow::datasets

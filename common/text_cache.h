#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace winnow {

// A cache of texts on disk, by keys, so that the next process finds what this one computed. Each
// text has a file, written durably and sealed with its digest.
// Errors     None: nothing throws. A file that is missing, damaged or of another key is not found;
//            a folder that cannot be written is left as it is.
// Processes  Several may use one folder.
class TextCache {
 public:
  explicit TextCache(std::filesystem::path folder);  // empty: nothing is kept
  std::optional<std::string> find(std::string_view key) const noexcept;
  void store(std::string_view key, std::string_view text) const noexcept;

  std::filesystem::path file_of(std::string_view key) const;

 private:
  std::filesystem::path folder_;
};

// The folder for caches of this user: $XDG_CACHE_HOME/winnow/`name`, or ~/.cache/winnow/`name`.
// Empty if neither XDG_CACHE_HOME nor HOME is set.
std::filesystem::path user_cache_folder(const std::filesystem::path& name);

}  // namespace winnow

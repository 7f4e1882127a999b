#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace winnow {

// Texts on disk by their keys, so that the next program finds what this one has worked out: a file
// for each, written durably, sealed with its digest. It is only a help: a folder that cannot be
// written, a file that is missing, damaged or another's is nothing found, and nothing here throws.
// Several processes may use one folder.
class TextCache {
 public:
  explicit TextCache(std::filesystem::path folder);  // empty: nothing is kept
  std::optional<std::string> find(std::string_view key) const noexcept;
  void store(std::string_view key, std::string_view text) const noexcept;

  std::filesystem::path file_of(std::string_view key) const;

 private:
  std::filesystem::path folder_;
};

// $XDG_CACHE_HOME/winnow/`name`, else in ~/.cache; empty when there is neither.
std::filesystem::path user_cache_folder(const std::filesystem::path& name);

}  // namespace winnow

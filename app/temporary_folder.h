#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace winnow::app {

// A place of this process in a folder, for a cache or other files: gone with what is in it.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::filesystem::path& in)
      : path_(in / ("winnow-" + std::to_string(::getpid()))) {}
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace winnow::app

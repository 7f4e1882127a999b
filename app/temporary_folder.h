#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <system_error>

namespace winnow::app {

// A unique folder within another one. The destructor removes it with its content. A process may
// have several in the same place.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::filesystem::path& in)
      : path_(in / ("winnow-" + std::to_string(::getpid()) + suffix_of(made_++))) {}
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  static std::string suffix_of(int number) {
    return number == 0 ? "" : "-" + std::to_string(number);
  }

  static inline std::atomic<int> made_ = 0;  // number of folders made in this process
  std::filesystem::path path_;
};

}  // namespace winnow::app

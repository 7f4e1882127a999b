#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "common/file.h"

namespace winnow::datasets {

// How many files a data set may keep open: an eighth of those that this process may open
// (RLIMIT_NOFILE), between 8 and 1024.
std::size_t share_of_open_files() noexcept;

// The files of a data set, opened when needed. The most recently used ones stay open: data sets
// have thousands of files, and reading in order needs each only once.
// Thread-safe, except for add().
class OpenFiles {
 public:
  explicit OpenFiles(std::size_t most = share_of_open_files()) : most_(most) {}

  // Adds a file. Its number is how many files were added before.
  void add(InputFile file);
  std::size_t size() const noexcept { return files_.size(); }
  // Opens a file, if it is not open. It stays open while the result lives. Throws SystemError if it
  // cannot be opened, or has another size than when it was added.
  std::shared_ptr<const InputFile> get(std::size_t number) const;

 private:
  struct File {
    std::filesystem::path path;
    std::uint64_t bytes = 0;
    std::shared_ptr<const InputFile> open{};   // null: closed
    std::list<std::size_t>::iterator place{};  // position in used_ if the file is open
  };
  void keep(std::size_t number, std::shared_ptr<const InputFile> file) const;

  std::size_t most_;
  mutable std::mutex mutex_;
  mutable std::vector<File> files_;
  mutable std::list<std::size_t> used_;  // open files, most recently used first
};

}  // namespace winnow::datasets

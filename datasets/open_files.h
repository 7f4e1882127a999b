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

// An eighth of the files that this process may have open (RLIMIT_NOFILE): at least 8, at most 1024.
std::size_t share_of_open_files() noexcept;

// The files of a set, of which those used last are kept open: sets have thousands, and reading in
// order needs each but once. add() is for one thread; then safe from many.
class OpenFiles {
 public:
  explicit OpenFiles(std::size_t most = share_of_open_files()) : most_(most) {}

  // Its number is how many were added before.
  void add(InputFile file);
  std::size_t size() const noexcept { return files_.size(); }
  // Open as long as the result lives. SystemError where it cannot be opened, or has another size
  // than when it was added.
  std::shared_ptr<const InputFile> get(std::size_t number) const;

 private:
  struct File {
    std::filesystem::path path;
    std::uint64_t bytes = 0;
    std::shared_ptr<const InputFile> open{};   // null: closed
    std::list<std::size_t>::iterator place{};  // in used_, where it is open
  };
  void keep(std::size_t number, std::shared_ptr<const InputFile> file) const;

  std::size_t most_;
  mutable std::mutex mutex_;
  mutable std::vector<File> files_;
  mutable std::list<std::size_t> used_;  // those open, the last used first
};

}  // namespace winnow::datasets

#include "datasets/open_files.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "common/error.h"

namespace winnow::datasets {

std::size_t share_of_open_files() noexcept {
  constexpr std::size_t kMost = 1024;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 8;
  return static_cast<std::size_t>(std::clamp<rlim_t>(limit.rlim_cur / 8, 8, kMost));
}

void OpenFiles::add(InputFile file) {
  const std::lock_guard lock(mutex_);
  files_.push_back({.path = file.path(), .bytes = file.size()});
  keep(files_.size() - 1, std::make_shared<const InputFile>(std::move(file)));
}

std::shared_ptr<const InputFile> OpenFiles::get(std::size_t number) const {
  std::unique_lock lock(mutex_);
  const File& file = files_[number];
  if (file.open) {
    used_.splice(used_.begin(), used_, file.place);
    return file.open;
  }
  lock.unlock();  // storage may be slow, and other threads need other files
  auto opened = std::make_shared<const InputFile>(file.path);
  if (opened->size() != file.bytes) {
    throw SystemError(file.path.string() + " changed while it was being read");
  }
  lock.lock();
  if (!file.open) keep(number, opened);
  return opened;
}

void OpenFiles::keep(std::size_t number, std::shared_ptr<const InputFile> file) const {
  if (used_.size() == most_) {
    files_[used_.back()].open.reset();
    used_.pop_back();
  }
  used_.push_front(number);
  files_[number].open = std::move(file);
  files_[number].place = used_.begin();
}

}  // namespace winnow::datasets

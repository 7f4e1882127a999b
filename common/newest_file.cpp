#include "common/newest_file.h"

#include <utility>

#include "common/replace_file.h"
#include "common/thread_name.h"

namespace winnow {

NewestFile::NewestFile(std::filesystem::path path,
                       std::function<void(const std::exception&)> failed)
    : path_(std::move(path)), failed_(std::move(failed)) {
  thread_ = std::thread([this] { write_all(); });
}

NewestFile::~NewestFile() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void NewestFile::put(Text text) {
  {
    const std::lock_guard lock(mutex_);
    next_ = std::move(text);
  }
  changed_.notify_one();
}

void NewestFile::write_all() {
  name_thread("newest file");
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return next_ || ends_; });
    const Text text = std::exchange(next_, nullptr);
    if (!text) return;
    lock.unlock();
    try {
      replace_file(path_, text());
    } catch (const std::exception& error) {
      failed_(error);
    }
    lock.lock();
  }
}

}  // namespace winnow

#pragma once

#include <condition_variable>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace winnow {

// Keeps a file up to date with the newest text. Writes on a thread of its own (replace_file()),
// because renaming a file takes milliseconds on a busy disk.
//
// Newest   If texts come faster than they can be written, some are skipped, but never the last one;
//          the destructor writes it.
// Threads  put() may be called from any thread.
class NewestFile {
 public:
  using Text = std::function<std::string()>;

  // `failed` is called on the writing thread with the exception of a failed write. The next text is
  // tried again.
  NewestFile(std::filesystem::path path, std::function<void(const std::exception&)> failed);
  ~NewestFile();
  NewestFile(const NewestFile&) = delete;
  NewestFile& operator=(const NewestFile&) = delete;

  void put(Text text);  // the writing thread calls `text` to get the new content

 private:
  void write_all();

  const std::filesystem::path path_;
  const std::function<void(const std::exception&)> failed_;

  std::mutex mutex_;
  std::condition_variable changed_;
  Text next_;  // text to write next; empty: the newest one is written
  bool ends_ = false;
  std::thread thread_;  // declared last, because the thread uses the members above
};

}  // namespace winnow

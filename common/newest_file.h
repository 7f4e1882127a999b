#pragma once

#include <condition_variable>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace winnow {

// A file of what is newest, put in place (replace_file()) by a thread of its own: to rename a file
// takes milliseconds where a disk is busy, and who has news does not wait for that.
//
// Newest   Of texts that come faster than they can be written the last is; the destructor writes
// it. Threads  put() from any
class NewestFile {
 public:
  using Text = std::function<std::string()>;

  // `failed` is called on its thread with what a write threw; the next text is tried again.
  NewestFile(std::filesystem::path path, std::function<void(const std::exception&)> failed);
  ~NewestFile();
  NewestFile(const NewestFile&) = delete;
  NewestFile& operator=(const NewestFile&) = delete;

  void put(Text text);  // called on its thread

 private:
  void write_all();

  const std::filesystem::path path_;
  const std::function<void(const std::exception&)> failed_;

  std::mutex mutex_;
  std::condition_variable changed_;
  Text next_;  // empty: what is written is the newest
  bool ends_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace winnow

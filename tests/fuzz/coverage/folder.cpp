#include "tests/fuzz/coverage/folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "common/error.h"
#include "common/file.h"

namespace winnow::fuzz {
namespace fs = std::filesystem;
namespace {

std::string next_name() {
  static std::atomic<int> made{0};
  return "winnow-fuzz-" + std::to_string(::getpid()) + "-" + std::to_string(made++);
}

}  // namespace

Folder::Folder(std::initializer_list<std::string_view> files)
    : path_(fs::temp_directory_path() / next_name()) {
  fs::remove_all(path_);
  fs::create_directories(path_);
  for (const std::string_view file : files) write(file, as_bytes("bytes"));
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path Folder::write(std::string_view name, BytesView bytes) const {
  const fs::path path = path_ / name;
  fs::create_directories(path.parent_path());
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd || ::write(fd.get(), bytes.data(), bytes.size()) != std::ssize(bytes)) {
    throw_errno("cannot write " + path.string());
  }
  return path;
}

}  // namespace winnow::fuzz

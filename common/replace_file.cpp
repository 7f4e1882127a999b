#include "common/replace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "common/error.h"
#include "common/file.h"

namespace winnow {
namespace fs = std::filesystem;
namespace {

// Returns errno; 0: everything is written.
int write_new(const fs::path& path, std::string_view text) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd) return errno;
  while (!text.empty()) {
    const ssize_t written = ::write(fd.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

// Renaming over a device or a pipe would replace it for everyone who uses it. /dev/stdout is a link
// to an open file of a process.
const fs::path& replaceable(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status now = fs::status(path, ignored);
  const bool is_process = fs::read_symlink(path, ignored).native().starts_with("/proc/");
  if (is_process || (fs::exists(now) && fs::status_known(now) && !fs::is_regular_file(now))) {
    throw UsageError(
        path.string() +
        " exists and is not a regular file, so it is not replaced; choose another file to write");
  }
  return path;
}

void replace_file(const fs::path& path, std::string_view text) {
  fs::path temporary = path;
  temporary += ".tmp";
  ::unlink(temporary.c_str());  // left by a killed writer
  int why = write_new(temporary, text);
  if (why == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) why = errno;
  if (why == 0) return;
  ::unlink(temporary.c_str());
  errno = why;
  throw_errno("cannot write " + path.string());
}

}  // namespace winnow

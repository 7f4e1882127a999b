#include "common/replace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "common/error.h"
#include "common/file.h"

namespace winnow {
namespace {

// errno; 0: all of it is written.
int write_new(const std::filesystem::path& path, std::string_view text) {
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

void replace_file(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::path temporary = path;
  temporary += ".tmp";
  ::unlink(temporary.c_str());  // of a writer that was killed
  int why = write_new(temporary, text);
  if (why == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) why = errno;
  if (why == 0) return;
  ::unlink(temporary.c_str());
  errno = why;
  throw_errno("cannot write " + path.string());
}

}  // namespace winnow

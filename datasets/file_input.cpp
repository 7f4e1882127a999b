#include "datasets/file_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "common/file.h"

namespace winnow::datasets {
namespace fs = std::filesystem;
namespace {

// Returns errno, or 0 and the whole file.
int read_once(const fs::path& path, Bytes& bytes) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) return errno;
  if (!S_ISREG(info.st_mode)) return EINVAL;
  bytes.resize(static_cast<std::size_t>(info.st_size));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(fd.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) break;  // truncated while being read
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return 0;
}

}  // namespace

Expected<Payload, ReadError> read_file_input(const fs::path& path) {
  Bytes bytes;
  const int code = try_patiently([&] { return read_once(path, bytes); });
  if (code == 0 && bytes.empty()) return ReadError{ReadError::Kind::kEmpty, "has no bytes"};
  if (code == 0) return Payload(std::move(bytes));
  const bool missing = code == ENOENT || code == ENOTDIR || code == ELOOP;
  return ReadError{missing ? ReadError::Kind::kMissing : ReadError::Kind::kIo,
                   std::generic_category().message(code)};
}

}  // namespace winnow::datasets

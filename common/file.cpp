#include "common/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

#include "common/error.h"

namespace winnow {
namespace fs = std::filesystem;
namespace {

Fd open_fd(const fs::path& path, int flags) {
  Fd fd(::open(path.c_str(), flags | O_CLOEXEC, 0644));
  if (!fd) throw_errno("cannot open " + path.string());
  return fd;
}

std::size_t file_size(const Fd& fd, const fs::path& path) {
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) throw_errno("cannot look at " + path.string());
  return static_cast<std::size_t>(info.st_size);
}

void fsync_path(const fs::path& path, int flags) {
  const Fd fd = open_fd(path, flags);
  if (::fsync(fd.get()) != 0) throw_errno("cannot sync " + path.string());
}

void write_all(const Fd& fd, BytesView bytes, const fs::path& path) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = ::write(fd.get(), bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw_errno("cannot write " + path.string());
    done += static_cast<std::size_t>(put);
  }
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

void FdTraits::close(Raw fd) noexcept { ::close(fd); }

Bytes read_file(const fs::path& path) {
  const Fd fd = open_fd(path, O_RDONLY);
  Bytes bytes(file_size(fd, path));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(fd.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno("cannot read " + path.string());
    if (got == 0) break;  // cut short while we read
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

std::string read_text(const fs::path& path) {
  const Bytes bytes = read_file(path);
  return std::string(as_text(bytes));
}

void write_file_durably(const fs::path& path, BytesView bytes) {
  const fs::path temporary = path.string() + ".tmp";
  try {
    {
      const Fd fd = open_fd(temporary, O_WRONLY | O_CREAT | O_TRUNC);
      write_all(fd, bytes, path);
      if (::fsync(fd.get()) != 0) throw_errno("cannot sync " + temporary.string());
    }
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
      throw_errno("cannot rename to " + path.string());
    }
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  fsync_directory(folder_of(path));
}

void write_file_durably(const fs::path& path, std::string_view text) {
  write_file_durably(path, as_bytes(text));
}

void fsync_file(const fs::path& path) { fsync_path(path, O_RDONLY); }
void fsync_directory(const fs::path& path) { fsync_path(path, O_RDONLY | O_DIRECTORY); }

Fd lock_directory(const fs::path& path) {
  Fd fd = open_fd(path, O_RDONLY | O_DIRECTORY);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  if (errno != EWOULDBLOCK) throw_errno("cannot lock " + path.string());
  throw UsageError(path.string() + " is in use by another winnow; wait for it or choose another");
}

void replace_symlink(const fs::path& link, const fs::path& target) {
  const fs::path temporary = link.string() + ".tmp";
  ::unlink(temporary.c_str());
  if (::symlink(target.c_str(), temporary.c_str()) != 0) {
    throw_errno("cannot make the link " + temporary.string());
  }
  if (::rename(temporary.c_str(), link.c_str()) != 0)
    throw_errno("cannot rename to " + link.string());
  fsync_directory(folder_of(link));
}

std::uint64_t free_bytes(const fs::path& path) {
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0) throw_errno("cannot look at " + path.string());
  return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
}

MappedFile::MappedFile(const fs::path& path) {
  const Fd fd = open_fd(path, O_RDONLY);
  const std::size_t size = file_size(fd, path);
  if (size == 0) return;
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (data == MAP_FAILED) throw_errno("cannot map " + path.string());
  data_ = {static_cast<const std::byte*>(data), UnmapFile{size}};
  bytes_ = {data_.get(), size};
}

void UnmapFile::operator()(const std::byte* data) const noexcept {
  ::munmap(const_cast<std::byte*>(data), size);
}

}  // namespace winnow

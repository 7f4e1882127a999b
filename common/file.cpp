#include "common/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

#include "common/error.h"
#include "common/failpoint.h"
#include "common/replace_file.h"

namespace winnow {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kPieceBytes = 1 << 20;

Fd open_fd(const fs::path& path, int flags) {
  Fd fd;
  errno = try_patiently([&] {
    fd = Fd(::open(path.c_str(), flags | O_CLOEXEC, 0644));
    return fd ? 0 : errno;
  });
  if (!fd) throw_errno("cannot open " + path.string());
  return fd;
}

std::size_t file_size(const Fd& fd, const fs::path& path) {
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) throw_errno("cannot look at " + path.string());
  return static_cast<std::size_t>(info.st_size);
}

// Opens a file for reading. Refuses pipes, which could block for a writer, and devices, which may
// be endless.
Fd open_to_read(const fs::path& path) {
  Fd fd = open_fd(path, O_RDONLY | O_NONBLOCK);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) throw_errno("cannot look at " + path.string());
  if (!S_ISREG(info.st_mode)) {
    throw SystemError("cannot read " + path.string() +
                      ": it is not a regular file; name one that is");
  }
  return fd;
}

Fd create_fd(const fs::path& path, int flags, const fs::path& final_path) {
  if (fault_before("file.create", final_path)) throw_errno("cannot open " + path.string());
  Fd fd = open_fd(path, O_WRONLY | O_CREAT | flags);
  fault_after("file.create", final_path);
  return fd;
}

void sync_fd(const Fd& fd, const fs::path& path) {
  if (fault_before("file.sync", path) || ::fsync(fd.get()) != 0) {
    throw_errno("cannot sync " + path.string());
  }
  fault_after("file.sync", path);
}

// Reads from `offset` until `out` is full or the file ends. Returns the number of bytes; `code` is
// errno or 0.
std::size_t read_some(const Fd& fd, std::uint64_t offset, std::span<std::byte> out, int& code) {
  std::size_t done = 0;
  code = 0;
  while (done < out.size()) {
    const ssize_t got =
        ::pread(fd.get(), out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) code = errno;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

// `put(bytes, done)` makes one system call for the bytes from `done` on.
void write_all(BytesView bytes, const fs::path& path, const auto& put) {
  if (fault_before("file.write", path)) throw_errno("cannot write " + path.string());
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t more = put(bytes.subspan(done), done);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) throw_errno("cannot write " + path.string());
    done += static_cast<std::size_t>(more);
  }
  fault_after("file.write", path);
}

void write_all(const Fd& fd, BytesView bytes, const fs::path& path) {
  write_all(bytes, path, [&](BytesView rest, std::size_t) {
    return ::write(fd.get(), rest.data(), rest.size());
  });
}

void rename_file(const fs::path& from, const fs::path& to, const char* act) {
  if (fault_before(act, to) || ::rename(from.c_str(), to.c_str()) != 0) {
    throw_errno("cannot rename to " + to.string());
  }
  fault_after(act, to);
}

bool is_at(const Fd& fd, const fs::path& path) {
  struct stat opened {};
  struct stat there {};
  return ::fstat(fd.get(), &opened) == 0 && ::stat(path.c_str(), &there) == 0 &&
         opened.st_ino == there.st_ino && opened.st_dev == there.st_dev;
}

// Opens the first of PATH.tmp, PATH.2.tmp and so on without a writer, and truncates what a killed
// writer has left there. The caller owns it until `fd` is closed. On a file system without locks,
// always PATH.tmp.
fs::path open_temporary(const fs::path& path, Fd& fd) {
  constexpr int kTries = 1000;  // some file systems only show a file once it is closed
  for (int number = 1, tried = 0;; ++tried) {
    const std::string ending = number == 1 ? ".tmp" : "." + std::to_string(number) + ".tmp";
    fs::path temporary = path.string() + ending;
    fd = create_fd(temporary, 0, path);
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ++number;
      continue;
    }
    // Its writer may have renamed it meanwhile.
    if (!is_at(fd, temporary) && tried < kTries) continue;
    struct stat left {};
    const bool is_empty = ::fstat(fd.get(), &left) == 0 && left.st_size == 0;
    if (!is_empty && ::ftruncate(fd.get(), 0) != 0) {
      throw_errno("cannot write " + temporary.string());
    }
    return temporary;
  }
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type() != fs::file_type::not_found;
}

}  // namespace

void FdTraits::close(Raw fd) noexcept { ::close(fd); }

int try_patiently(const std::function<int()>& attempt) {
  using namespace std::chrono_literals;
  for (const auto pause : {20ms, 200ms}) {
    const int code = attempt();
    if (code != EIO && code != ESTALE) return code;
    std::this_thread::sleep_for(pause);
  }
  return attempt();
}

Bytes read_file(const fs::path& path) {
  const Fd fd = open_to_read(path);
  Bytes bytes(file_size(fd, path));
  std::size_t done = 0;  // the file may be truncated while being read
  errno = try_patiently([&] {
    int code = 0;
    done += read_some(fd, done, std::span(bytes).subspan(done), code);
    return code;
  });
  if (errno != 0) throw_errno("cannot read " + path.string());
  bytes.resize(done);
  return bytes;
}

std::string read_text(const fs::path& path) {
  const Bytes bytes = read_file(path);
  return std::string(as_text(bytes));
}

void require_file(const fs::path& path) {
  std::error_code unknown;
  if (!fs::exists(path, unknown) && !unknown) {
    throw UsageError("there is no file " + path.string());
  }
}

InputFile::InputFile(fs::path path)
    : path_(std::move(path)), fd_(open_to_read(path_)), size_(file_size(fd_, path_)) {}

InputFile::InputFile(Fd fd, fs::path path)
    : path_(std::move(path)), fd_(std::move(fd)), size_(file_size(fd_, path_)) {}

void InputFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  std::size_t done = 0;
  Fd anew;
  errno = try_patiently([&] {
    int code = 0;
    done += read_some(anew ? anew : fd_, offset + done, out.subspan(done), code);
    if (code != ESTALE) return code;
    // The server may not know the open handle any more, but still know the name.
    anew = Fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    done = 0;
    if (anew && file_size(anew, path_) != size_) {
      throw SystemError(path_.string() + " changed while it was being read");
    }
    return code;
  });
  if (errno != 0) throw_errno("cannot read " + path_.string());
  if (done < out.size()) throw SystemError("cannot read " + path_.string() + ": it was cut short");
}

ScratchFile::ScratchFile() {
  std::error_code error;
  folder_ = fs::temp_directory_path(error);
  if (error) {
    throw SystemError("there is no folder for temporary files; name one in TMPDIR");
  }
  std::string name = folder_ / "winnow-XXXXXX";
  fd_ = Fd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd_) throw_errno("cannot make a temporary file in " + folder_.string());
  ::unlink(name.c_str());
}

void ScratchFile::append(BytesView bytes) { write_all(fd_, bytes, folder_ / "a temporary file"); }

InputFile ScratchFile::read() && { return {std::move(fd_), folder_ / "a temporary file"}; }

void for_each_piece(const InputFile& file, std::uint64_t begin, std::uint64_t end,
                    const std::function<void(BytesView)>& take) {
  Bytes piece(static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, end - begin)));
  while (begin < end) {
    const std::span part = std::span(piece).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), end - begin)));
    file.read_at(begin, part);
    take(part);
    begin += part.size();
  }
}

Hash128 xxh3_128(const InputFile& file) {
  Xxh3Stream hash;
  for_each_piece(file, 0, file.size(), [&](BytesView piece) { hash.update(piece); });
  return hash.digest();
}

void write_new_file(const fs::path& path, BytesView bytes) {
  write_all(create_fd(path, O_EXCL, path), bytes, path);
}

void sync_file_system(const fs::path& path) {
  const Fd fd = open_fd(path, O_RDONLY | O_DIRECTORY);
  if (fault_before("dir.sync", path) || ::syncfs(fd.get()) != 0) {
    throw_errno("cannot sync the file system of " + path.string());
  }
  fault_after("dir.sync", path);
}

void write_file_durably(const fs::path& path, BytesView bytes) {
  DurableFile file(path);
  file.write_at(0, bytes);
  file.finish();
}

void write_file_durably(const fs::path& path, std::string_view text) {
  write_file_durably(path, as_bytes(text));
}

DurableFile::DurableFile(fs::path path)
    : path_(std::move(path)), temporary_(open_temporary(replaceable(path_), fd_)) {}

DurableFile::~DurableFile() {
  if (!path_.empty()) ::unlink(temporary_.c_str());
}

DurableFile::DurableFile(DurableFile&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      fd_(std::move(other.fd_)),
      temporary_(std::move(other.temporary_)),
      appended_(other.appended_),
      gathered_(std::move(other.gathered_)) {}

void DurableFile::append(BytesView bytes) {
  while (!bytes.empty()) {
    const std::size_t fits = std::min(bytes.size(), kPieceBytes - gathered_.size());
    gathered_.insert(gathered_.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(fits));
    bytes = bytes.subspan(fits);
    if (gathered_.size() == kPieceBytes) flush();
  }
}

void DurableFile::flush() {
  if (gathered_.empty()) return;
  write_at(appended_, gathered_);
  appended_ += gathered_.size();
  gathered_.clear();
}

void DurableFile::write_at(std::uint64_t offset, BytesView bytes) {
  write_all(bytes, path_, [&](BytesView rest, std::size_t done) {
    return ::pwrite(fd_.get(), rest.data(), rest.size(), static_cast<off_t>(offset + done));
  });
}

InputFile DurableFile::written() {
  flush();
  return InputFile(temporary_);
}

void DurableFile::finish() {
  flush();
  sync_fd(fd_, path_);
  rename_file(temporary_, path_, "file.rename");
  fd_ = Fd();  // not before: the name belongs to this file while it is open
  fsync_directory(folder_of(std::exchange(path_, {})));
}

void fsync_file(const fs::path& path) { sync_fd(open_fd(path, O_RDONLY), path); }

void fsync_directory(const fs::path& path) {
  const Fd fd = open_fd(path, O_RDONLY | O_DIRECTORY);
  // Some network file systems do not support this and return EINVAL.
  if (fault_before("dir.sync", path) || (::fsync(fd.get()) != 0 && errno != EINVAL)) {
    throw_errno("cannot sync the folder " + path.string());
  }
  fault_after("dir.sync", path);
}

void make_directories(const fs::path& path) {
  if (is_folder(path)) return;
  make_directories(folder_of(path));
  if (is_folder(path)) return;  // the path ended in a slash
  const bool made = !fault_before("dir.create", path) && ::mkdir(path.c_str(), 0777) == 0;
  if (!made) {
    const int why = errno;
    if (why == EEXIST && is_folder(path)) return;  // another process has made it meanwhile
    errno = why;
    throw_errno("cannot make the folder " + path.string());
  }
  fault_after("dir.create", path);
  fsync_directory(folder_of(path));
}

void move_file(const fs::path& from, const fs::path& to) {
  rename_file(from, to, "file.rename");
  fsync_directory(folder_of(to));
  if (folder_of(from) != folder_of(to)) fsync_directory(folder_of(from));
}

void rename_directory(const fs::path& from, const fs::path& to) {
  if (fault_before("dir.rename", to)) throw_errno("cannot rename to " + to.string());
  bool replaced = is_there(to);
  if (replaced && ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) != 0) {
    if (errno != EINVAL && errno != ENOSYS) throw_errno("cannot rename to " + to.string());
    remove_tree(to);
    replaced = false;
  }
  if (!replaced && ::rename(from.c_str(), to.c_str()) != 0) {
    throw_errno("cannot rename to " + to.string());
  }
  fault_after("dir.rename", to);
  fsync_directory(folder_of(to));
  if (replaced) remove_tree(from);  // the former content of `to`
}

void remove_file(const fs::path& path) {
  if (!is_there(path)) return;
  if (fault_before("file.remove", path) || (::unlink(path.c_str()) != 0 && errno != ENOENT)) {
    throw_errno("cannot remove " + path.string());
  }
  fault_after("file.remove", path);
}

void remove_tree(const fs::path& path) {
  if (!is_there(path)) return;
  if (fault_before("dir.remove", path)) throw_errno("cannot remove " + path.string());
  std::error_code error;
  fs::remove_all(path, error);
  if (error) throw SystemError("cannot remove " + path.string() + ": " + error.message());
  fault_after("dir.remove", path);
}

AppendFile::AppendFile(fs::path path)
    : path_(std::move(path)), fd_(create_fd(path_, O_APPEND, path_)) {
  fsync_directory(folder_of(path_));
}

void AppendFile::append(std::string_view text) { write_all(fd_, as_bytes(text), path_); }
void AppendFile::sync() { sync_fd(fd_, path_); }

Fd wait_for_directory(const fs::path& path, const StopRequested& stop) {
  Fd fd = open_fd(path, O_RDONLY | O_DIRECTORY);
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    // The file system has no locks.
    if (errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS) break;
    if (errno != EWOULDBLOCK && errno != EINTR) throw_errno("cannot lock " + path.string());
    if (stop && stop()) throw StoppedError("stopped while another winnow wrote " + path.string());
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return fd;
}

Fd lock_directory(const fs::path& path) {
  Fd fd = open_fd(path, O_RDONLY | O_DIRECTORY);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  if (errno != EWOULDBLOCK) throw_errno("cannot lock " + path.string());
  throw UsageError(path.string() + " is in use by another winnow; wait for it or choose another");
}

void replace_symlink(const fs::path& link, const fs::path& target) {
  const fs::path temporary = link.string() + ".tmp";
  ::unlink(temporary.c_str());
  if (fault_before("link.create", link) || ::symlink(target.c_str(), temporary.c_str()) != 0) {
    throw_errno("cannot make the link " + temporary.string());
  }
  fault_after("link.create", link);
  rename_file(temporary, link, "link.rename");
  fsync_directory(folder_of(link));
}

std::uint64_t free_bytes(const fs::path& path) {
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0) throw_errno("cannot look at " + path.string());
  return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
}

MappedFile::MappedFile(const fs::path& path) {
  const Fd fd = open_to_read(path);
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

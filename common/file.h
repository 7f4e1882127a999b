#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/bytes.h"
#include "common/checksum.h"
#include "common/stop.h"
#include "common/unique_handle.h"

namespace winnow {

struct FdTraits {
  using Raw = int;
  static Raw null() noexcept { return -1; }
  static void close(Raw fd) noexcept;
};
using Fd = UniqueHandle<FdTraits>;

// Calls `attempt`, which returns 0 or an errno. If the result is EIO or ESTALE, which may be
// temporary on network storage, calls it again after 20 and after 200 ms. Returns the last result.
int try_patiently(const std::function<int()>& attempt);

// File operations. All of them throw SystemError naming the path. Opening for reading, and reading,
// retry by try_patiently(). Only regular files are read, because others could block for ever.

Bytes read_file(const std::filesystem::path& path);
std::string read_text(const std::filesystem::path& path);

// Checks a path that the user named: throws UsageError if there is no file. Other problems are left
// to the code that opens it.
void require_file(const std::filesystem::path& path);

// A file open for reading in pieces, without loading it as a whole. It must not change meanwhile.
// Thread-safe.
class InputFile {
 public:
  explicit InputFile(std::filesystem::path path);
  InputFile(Fd fd, std::filesystem::path path);  // path  For messages.
  const std::filesystem::path& path() const noexcept { return path_; }
  std::uint64_t size() const noexcept { return size_; }  // size in bytes when it was opened
  // Fills `out` with the bytes of the file from `offset` on. Throws if the file has fewer.
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  std::filesystem::path path_;
  Fd fd_;
  std::uint64_t size_;
};

// Makes an unnamed temporary file (in TMPDIR, else /tmp), which vanishes when closed.
class ScratchFile {
 public:
  ScratchFile();
  void append(BytesView bytes);
  InputFile read() &&;

 private:
  std::filesystem::path folder_;
  Fd fd_;
};

// Calls `take` with the bytes [begin, end) of `file`, in order, in pieces of at most 1 MiB.
void for_each_piece(const InputFile& file, std::uint64_t begin, std::uint64_t end,
                    const std::function<void(BytesView)>& take);

Hash128 xxh3_128(const InputFile& file);  // XXH3-128 hash of the whole file

// Creates a file, which must not exist yet, with these bytes. It is not synced; use
// sync_file_system() after creating many.
void write_new_file(const std::filesystem::path& path, BytesView bytes);
// Makes all files written so far to the file system of `path` durable.
void sync_file_system(const std::filesystem::path& path);

// Replaces a whole file such that it is on disk when the function returns: temporary name in the
// same folder, write, fsync, rename, fsync of the folder. After a crash the path has either the old
// or the new content, never a part.
// Several writers of one path do not interfere: each has its own temporary file, and the last one
// wins.
// Errors  UsageError, before anything is written, if a device, a pipe or a folder is at the path.
void write_file_durably(const std::filesystem::path& path, BytesView bytes);
void write_file_durably(const std::filesystem::path& path, std::string_view text);

// Like write_file_durably(), for a file that is written in pieces. Until finish(), and without it,
// its path stays as it is. Not thread-safe.
class DurableFile {
 public:
  explicit DurableFile(std::filesystem::path path);
  ~DurableFile();
  DurableFile(DurableFile&& other) noexcept;
  DurableFile& operator=(DurableFile&&) = delete;

  void append(BytesView bytes);  // buffers up to 1 MiB before writing
  // Writes bytes at any offset of the file. Gaps are filled with zeros.
  void write_at(std::uint64_t offset, BytesView bytes);
  // Opens the data written so far for reading, under a temporary path.
  InputFile written();
  void finish();

 private:
  void flush();

  std::filesystem::path path_;  // empty after finish() or a move
  Fd fd_;
  std::filesystem::path temporary_;  // unique to this writer
  std::uint64_t appended_ = 0;       // number of bytes that append() has written to disk
  Bytes gathered_;                   // not yet written
};

void fsync_file(const std::filesystem::path& path);
void fsync_directory(const std::filesystem::path& path);

// Creates a directory and its missing parents. Each is synced into its parent, so it survives a
// crash.
void make_directories(const std::filesystem::path& path);

// Renames a file that is on disk already, within its file system; replaces a file at `to`. The new
// name is durable when the function returns.
void move_file(const std::filesystem::path& from, const std::filesystem::path& to);

// Renames a directory and syncs its parent. Replaces `to` atomically if the file system can
// exchange names; otherwise there is a moment with neither.
void rename_directory(const std::filesystem::path& from, const std::filesystem::path& to);

// Removes a file if it exists. Not synced: after a crash the file may be back.
void remove_file(const std::filesystem::path& path);
void remove_tree(const std::filesystem::path& path);  // removes a directory with its content

// A log file that grows at its end; created durably if missing. After a crash or an error, a part
// of the last appended text may be there.
class AppendFile {
 public:
  explicit AppendFile(std::filesystem::path path);
  // Appends a text. It is written when this returns, but a crash of the machine may lose it.
  void append(std::string_view text);
  void sync();  // makes all appended text survive a crash

 private:
  std::filesystem::path path_;
  Fd fd_;
};

// Locks a directory while the returned object lives, against other processes that call this
// function. Throws UsageError naming the directory if another process holds the lock.
Fd lock_directory(const std::filesystem::path& path);
// Like lock_directory(), but waits until no other process holds the lock. `stop` is asked ten times
// a second (StoppedError). Does not wait if the file system has no locks.
Fd wait_for_directory(const std::filesystem::path& path, const StopRequested& stop = {});

// Makes `link` a symbolic link to `target`; replaces an existing link atomically.
void replace_symlink(const std::filesystem::path& link, const std::filesystem::path& target);

// Free space on the file system of `path` for an unprivileged user, in bytes.
std::uint64_t free_bytes(const std::filesystem::path& path);

struct UnmapFile {
  std::size_t size = 0;
  void operator()(const std::byte* data) const noexcept;
};

// A whole file, memory-mapped read-only. Reading it after the file was truncated raises SIGBUS, so
// only files that are replaced as a whole may be mapped.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  BytesView bytes() const noexcept { return bytes_; }

 private:
  std::unique_ptr<const std::byte, UnmapFile> data_;
  BytesView bytes_;
};

}  // namespace winnow

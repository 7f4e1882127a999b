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

// Calls `attempt`, which returns errno or 0. While that is EIO or ESTALE, which may be temporary on
// network storage, calls it again after 20 and after 200 ms. Returns the last result.
int try_patiently(const std::function<int()>& attempt);

// File operations. All throw SystemError naming the path. Opening for reading, and reading, use
// try_patiently(). Only regular files are read, because others could block for ever.

Bytes read_file(const std::filesystem::path& path);
std::string read_text(const std::filesystem::path& path);

// For a file that the user named: UsageError if there is none. What else may be wrong is left to
// what opens it.
void require_file(const std::filesystem::path& path);

// A file that is read in pieces, for large files. It must not change meanwhile. Thread-safe.
class InputFile {
 public:
  explicit InputFile(std::filesystem::path path);
  InputFile(Fd fd, std::filesystem::path path);  // path  For messages.
  const std::filesystem::path& path() const noexcept { return path_; }
  std::uint64_t size() const noexcept { return size_; }  // at the time of opening
  // Fills `out` with the bytes from `offset` on. Throws if the file has fewer.
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  std::filesystem::path path_;
  Fd fd_;
  std::uint64_t size_;
};

// An unnamed temporary file (in TMPDIR, else /tmp) that vanishes when closed.
class ScratchFile {
 public:
  ScratchFile();
  void append(BytesView bytes);
  InputFile read() &&;

 private:
  std::filesystem::path folder_;
  Fd fd_;
};

// Calls `take` with the bytes [begin, end) of `file` in order, in pieces of at most 1 MiB.
void for_each_piece(const InputFile& file, std::uint64_t begin, std::uint64_t end,
                    const std::function<void(BytesView)>& take);

Hash128 xxh3_128(const InputFile& file);  // hash of the whole file

// Creates a file that must not exist. Not synced: for sets of many files that are synced together.
void write_new_file(const std::filesystem::path& path, BytesView bytes);
// Makes everything written to the file system of `path` durable.
void sync_file_system(const std::filesystem::path& path);

// Replaces a whole file durably: temporary name in the same folder, write, fsync, rename, fsync of
// the folder. After a crash the path has either the old or the new content, never a part.
// Several writers of one path do not interfere: each has its own temporary file, and the last one
// wins.
// Errors  UsageError, before anything is written, if a device, a pipe or a folder is at the path.
void write_file_durably(const std::filesystem::path& path, BytesView bytes);
void write_file_durably(const std::filesystem::path& path, std::string_view text);

// As write_file_durably(), for a file written in pieces. Until finish(), and without it, its path
// is unchanged. Not thread-safe.
class DurableFile {
 public:
  explicit DurableFile(std::filesystem::path path);
  ~DurableFile();
  DurableFile(DurableFile&& other) noexcept;
  DurableFile& operator=(DurableFile&&) = delete;

  void append(BytesView bytes);  // buffered in pieces of at most 1 MiB
  // Writes anywhere in the file. Gaps are zero.
  void write_at(std::uint64_t offset, BytesView bytes);
  // Opens what was written so far, for reading. Its path is temporary.
  InputFile written();
  void finish();

 private:
  void flush();

  std::filesystem::path path_;  // empty: finished or moved from
  Fd fd_;
  std::filesystem::path temporary_;  // unique to this writer
  std::uint64_t appended_ = 0;       // size of the data flushed by append()
  Bytes gathered_;                   // and what follows it
};

void fsync_file(const std::filesystem::path& path);
void fsync_directory(const std::filesystem::path& path);

// Creates a directory and its missing parents, syncing each into its parent.
void make_directories(const std::filesystem::path& path);

// Renames a durable file within its file system; replaces an existing one. Durable.
void move_file(const std::filesystem::path& from, const std::filesystem::path& to);

// Renames a directory and syncs its parent. Replaces `to` atomically if the file system can
// exchange names; otherwise there is a moment with neither.
void rename_directory(const std::filesystem::path& from, const std::filesystem::path& to);

// Removes a file, if it exists. Not synced: after a crash it may be back.
void remove_file(const std::filesystem::path& path);
void remove_tree(const std::filesystem::path& path);  // a directory with its content

// A file that grows at its end; created durably if missing. After a crash or an error, the last
// appended text may be there partially.
class AppendFile {
 public:
  explicit AppendFile(std::filesystem::path path);
  void append(std::string_view text);  // when it returns, the system has the text
  void sync();                         // when it returns, the text is durable

 private:
  std::filesystem::path path_;
  Fd fd_;
};

// Locks a directory while the result lives, against other processes that do the same. UsageError,
// naming it, if one holds it.
Fd lock_directory(const std::filesystem::path& path);
// As lock_directory(), but waits for the holder. `stop` is asked ten times a second (StoppedError).
// Does not wait if the file system has no locks.
Fd wait_for_directory(const std::filesystem::path& path, const StopRequested& stop = {});

// Makes `link` a symbolic link to `target`; replaces an existing link atomically.
void replace_symlink(const std::filesystem::path& link, const std::filesystem::path& target);

// Bytes that an unprivileged user can still write on the file system of `path`.
std::uint64_t free_bytes(const std::filesystem::path& path);

struct UnmapFile {
  std::size_t size = 0;
  void operator()(const std::byte* data) const noexcept;
};

// A whole file, mapped read-only. Reading it after the file was truncated raises SIGBUS, so only
// files that are replaced as a whole may be mapped.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  BytesView bytes() const noexcept { return bytes_; }

 private:
  std::unique_ptr<const std::byte, UnmapFile> data_;
  BytesView bytes_;
};

}  // namespace winnow

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

// Calls `attempt`, which returns errno or 0, and again after 20 and after 200 ms while that is EIO
// or ESTALE: on network storage these may pass. Returns what the last call did.
int try_patiently(const std::function<int()>& attempt);

// All throw SystemError naming the path. What opens a file to read it and what reads tries
// patiently. Only regular files are read: what else a path may name could let us wait for ever.

Bytes read_file(const std::filesystem::path& path);
std::string read_text(const std::filesystem::path& path);

// A file read in pieces, for what is too large to be held. It must not change meanwhile. Safe from
// many threads.
class InputFile {
 public:
  explicit InputFile(std::filesystem::path path);
  InputFile(Fd fd, std::filesystem::path path);  // `path` for messages
  const std::filesystem::path& path() const noexcept { return path_; }
  std::uint64_t size() const noexcept { return size_; }  // when it was opened
  // Fills `out` with the bytes from `offset` on; an error when the file has not so many.
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  std::filesystem::path path_;
  Fd fd_;
  std::uint64_t size_;
};

// A file without a name where temporary ones are kept (TMPDIR, else /tmp), gone when it is closed.
class ScratchFile {
 public:
  ScratchFile();
  void append(BytesView bytes);
  InputFile read() &&;

 private:
  std::filesystem::path folder_;
  Fd fd_;
};

// Calls `take` with the bytes [begin, end) of `file` in order, a piece of at most 1 MiB at a time.
void for_each_piece(const InputFile& file, std::uint64_t begin, std::uint64_t end,
                    const std::function<void(BytesView)>& take);

Hash128 xxh3_128(const InputFile& file);  // of all its bytes

// Makes a file that must not be there. Not synced: for what is made of many files and synced whole.
void write_new_file(const std::filesystem::path& path, BytesView bytes);
// Makes durable all that was written to the file system that holds `path`.
void sync_file_system(const std::filesystem::path& path);

// The durable way to put a whole file in place: temporary name in the same folder, write, fsync,
// rename, fsync of the folder. After a crash the path holds the old bytes or the new, never a part.
// Several writers of one path do not meet: each has a temporary name of its own, and the last one
// stays. Throws UsageError, before it writes, where a device, a pipe or a folder is at the path.
void write_file_durably(const std::filesystem::path& path, BytesView bytes);
void write_file_durably(const std::filesystem::path& path, std::string_view text);

// The same for a file that is made in pieces. Until finish() nothing is at its path, or what was
// there before; without finish() that stays. Throws UsageError likewise. Not for several threads at
// once.
class DurableFile {
 public:
  explicit DurableFile(std::filesystem::path path);
  ~DurableFile();
  DurableFile(DurableFile&& other) noexcept;
  DurableFile& operator=(DurableFile&&) = delete;

  void append(BytesView bytes);  // gathered in memory, a piece of at most 1 MiB
  // Anywhere in the file; what lies between and was never written is zero.
  void write_at(std::uint64_t offset, BytesView bytes);
  // What was written so far, to be read back. Its path is a temporary one.
  InputFile written();
  void finish();

 private:
  void flush();

  std::filesystem::path path_;  // empty: finished or moved from
  Fd fd_;
  std::filesystem::path temporary_;  // this writer's alone
  std::uint64_t appended_ = 0;       // bytes of the file that append() made
  Bytes gathered_;                   // and those that follow them
};

void fsync_file(const std::filesystem::path& path);
void fsync_directory(const std::filesystem::path& path);

// Makes a directory and those above it that are missing, each synced into the one above it.
void make_directories(const std::filesystem::path& path);

// Gives a file that is durable another name, on the same file system; one that has it already is
// replaced. Durable.
void move_file(const std::filesystem::path& from, const std::filesystem::path& to);

// Renames a directory and syncs the one it is in. What is at `to` before is replaced in one step,
// where the file system can exchange two names; elsewhere there is a moment without either.
void rename_directory(const std::filesystem::path& from, const std::filesystem::path& to);

// Nothing there is fine. Not synced: after a crash they may be back.
void remove_file(const std::filesystem::path& path);
void remove_tree(const std::filesystem::path& path);  // a directory with all that is in it

// A file that grows at its end; made, durably, where it is missing. After a crash or an error the
// last text appended may be there in part.
class AppendFile {
 public:
  explicit AppendFile(std::filesystem::path path);
  void append(std::string_view text);  // handed to the system when this returns
  void sync();                         // durable when this returns

 private:
  std::filesystem::path path_;
  Fd fd_;
};

// Locks a directory for as long as the result lives, against other processes that do so too. Throws
// UsageError naming it when one holds it already.
Fd lock_directory(const std::filesystem::path& path);
// The same, but waits for a process that holds it; `stop` is asked ten times a second
// (StoppedError). Where the file system knows no locks, nobody is waited for.
Fd wait_for_directory(const std::filesystem::path& path, const StopRequested& stop = {});

// Makes `link` a symbolic link to `target`, atomically replacing one that is there.
void replace_symlink(const std::filesystem::path& link, const std::filesystem::path& target);

// Bytes an unprivileged user can still write on the file system that holds `path`.
std::uint64_t free_bytes(const std::filesystem::path& path);

struct UnmapFile {
  std::size_t size = 0;
  void operator()(const std::byte* data) const noexcept;
};

// A whole file mapped read-only. The bytes are the file's: reading them after somebody cut the file
// short raises SIGBUS, so only files that are replaced as a whole are mapped.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  BytesView bytes() const noexcept { return bytes_; }

 private:
  std::unique_ptr<const std::byte, UnmapFile> data_;
  BytesView bytes_;
};

}  // namespace winnow

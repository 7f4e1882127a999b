#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "common/bytes.h"
#include "common/unique_handle.h"

namespace winnow {

struct FdTraits {
  using Raw = int;
  static Raw null() noexcept { return -1; }
  static void close(Raw fd) noexcept;
};
using Fd = UniqueHandle<FdTraits>;

// All throw SystemError naming the path.

Bytes read_file(const std::filesystem::path& path);
std::string read_text(const std::filesystem::path& path);

// The durable way to put a whole file in place: temporary name in the same folder, write, fsync,
// rename, fsync of the folder. After a crash the path holds the old bytes or the new, never a part.
void write_file_durably(const std::filesystem::path& path, BytesView bytes);
void write_file_durably(const std::filesystem::path& path, std::string_view text);

void fsync_file(const std::filesystem::path& path);
void fsync_directory(const std::filesystem::path& path);

// Locks a directory for as long as the result lives, against other processes that do so too. Throws
// UsageError naming it when one holds it already.
Fd lock_directory(const std::filesystem::path& path);

// Makes `link` a symbolic link to `target`, atomically replacing one that is there.
void replace_symlink(const std::filesystem::path& link, const std::filesystem::path& target);

// Bytes an unprivileged user can still write on the file system that holds `path`.
std::uint64_t free_bytes(const std::filesystem::path& path);

struct UnmapFile {
  std::size_t size = 0;
  void operator()(const std::byte* data) const noexcept;
};

// A whole file mapped read-only. The bytes are the file's: reading them after somebody cut the file
// short raises SIGBUS, so only files that are sealed are mapped.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  BytesView bytes() const noexcept { return bytes_; }

 private:
  std::unique_ptr<const std::byte, UnmapFile> data_;
  BytesView bytes_;
};

}  // namespace winnow

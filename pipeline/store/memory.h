#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/file.h"

// Where shards can be stored, how much space there is, and who uses them.
namespace winnow::pipeline {

// Folder of files in the machine's memory, which last until it restarts.
inline constexpr const char* kMemoryFolder = "/dev/shm";

enum class Storage : std::uint8_t { kDisk, kMemory, kNetwork };

// The kind of a file system, by its number from statfs(). All user-space file systems (FUSE) count
// as network: their server may be anywhere, and may disappear.
Storage storage_of(std::uint64_t magic) noexcept;
Storage storage_at(const std::filesystem::path& path);  // SystemError if nothing is there

// Bytes that can still be written to files, by what limits them.
struct Room {
  std::uint64_t file_system = 0;
  std::uint64_t machine = ~std::uint64_t{0};  // free memory; irrelevant for files on disk
  std::uint64_t group = ~std::uint64_t{0};    // likewise: remaining memory of the control groups

  std::uint64_t bytes() const noexcept;
};
// The space in a folder. Reserves some of the machine's memory for programs.
Room room_at(const std::filesystem::path& folder);
std::string to_string(const Room& room);  // "64 MiB by the file system, 9000 MiB by the ..."

// The space for shards to be kept in kMemoryFolder, without a reserve for programs. UsageError if
// there is no such folder.
std::uint64_t memory_left();

// Prefix of all folders with this user's shards: "winnow-1000-".
std::string memory_prefix();
// Whether `folder`, in `memory`, is one of them. Checked carefully, because anyone may write there
// and make links.
bool is_our_memory(const std::filesystem::path& folder,
                   const std::filesystem::path& memory = kMemoryFolder);

// A shared lock of a folder that shows that its files are in use; null if the file system has no
// locks. Ends with the process.
Fd use_folder(const std::filesystem::path& folder);
// An exclusive lock of an unused folder. A null Fd if the file system has no locks; nullopt if it
// is in use.
std::optional<Fd> lock_unused(const std::filesystem::path& folder);
// Processes that hold a lock of it, as far as the system tells; those of other machines and
// containers may be missing.
std::vector<int> users_of(const std::filesystem::path& folder);
// "process 17 uses it", for messages.
std::string in_words(std::span<const int> users);

}  // namespace winnow::pipeline

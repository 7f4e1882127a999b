#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/file.h"

// Finds where shards can be stored, how much space there is, and which processes use them.
namespace winnow::pipeline {

// Folder whose files are in the machine's memory, and last until the machine restarts.
inline constexpr const char* kMemoryFolder = "/dev/shm";

enum class Storage : std::uint8_t { kDisk, kMemory, kNetwork };

// The kind of a file system, by its type number from statfs(). All user-space file systems (FUSE)
// count as network: their server may be anywhere, and may disappear.
Storage storage_of(std::uint64_t magic) noexcept;
// The kind of storage at a path. Throws SystemError if nothing exists there.
Storage storage_at(const std::filesystem::path& path);

// Space for files in a folder: the bytes that each of several limits still allows.
struct Room {
  std::uint64_t file_system = 0;
  // Free memory of the machine; no limit for files on disk.
  std::uint64_t machine = ~std::uint64_t{0};
  // Memory left to the control groups; no limit for files on disk.
  std::uint64_t group = ~std::uint64_t{0};

  std::uint64_t bytes() const noexcept;
};
// The space for files in a folder. Some of the machine's memory is reserved for programs.
Room room_at(const std::filesystem::path& folder);
std::string to_string(const Room& room);  // "64 MiB by the file system, 9000 MiB by the ..."

// The bytes that shards in kMemoryFolder can take, without a reserve for programs. UsageError if
// there is no such folder.
std::uint64_t memory_left();

// Prefix of the names of folders with this user's shards: "winnow-1000-".
std::string memory_prefix();
// Whether `folder`, in `memory`, is a folder with this user's shards. Checked carefully, because
// every user may write there and make links.
bool is_our_memory(const std::filesystem::path& folder,
                   const std::filesystem::path& memory = kMemoryFolder);

// Takes a shared lock of a folder, which shows that its files are in use. A null Fd if the file
// system has no locks. Ends with the process.
Fd use_folder(const std::filesystem::path& folder);
// Takes an exclusive lock of a folder that is not in use. nullopt if it is in use; a null Fd if the
// file system has no locks.
std::optional<Fd> lock_unused(const std::filesystem::path& folder);
// Ids of processes that hold a lock of a folder, as far as the system tells; those of other
// machines and containers may be missing.
std::vector<int> users_of(const std::filesystem::path& folder);
// Processes that use a folder, for messages: "process 17 uses it".
std::string in_words(std::span<const int> users);

}  // namespace winnow::pipeline

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/file.h"

// Where shards can be, what room there is, and who uses them.
namespace winnow::pipeline {

// Whose files are in the memory of the machine, until it restarts.
inline constexpr const char* kMemoryFolder = "/dev/shm";

enum class Storage : std::uint8_t { kDisk, kMemory, kNetwork };

// By the number that statfs() has of a file system. Everything in user space (FUSE) counts as
// network: who serves it may be anywhere, and may be gone.
Storage storage_of(std::uint64_t magic) noexcept;
Storage storage_at(const std::filesystem::path& path);  // SystemError where nothing is there

// Bytes that can still be put into files somewhere, and what limits them.
struct Room {
  std::uint64_t file_system = 0;
  std::uint64_t machine = ~std::uint64_t{0};  // free memory; of no concern for files on disk
  std::uint64_t group = ~std::uint64_t{0};    // likewise what the control groups leave

  std::uint64_t bytes() const noexcept;
};
// Some of the machine's memory is left for programs.
Room room_at(const std::filesystem::path& folder);
std::string to_string(const Room& room);  // "64 MiB by the file system, 9000 MiB by the ..."

// The same for shards that are to be kept in kMemoryFolder, with nothing left for programs.
// UsageError where there is none.
std::uint64_t memory_left();

// What the names of all folders begin with that this user's shards are in: "winnow-1000-".
std::string memory_prefix();
// Whether `folder`, in `memory`, is one of them: anybody may write there, and make links.
bool is_our_memory(const std::filesystem::path& folder,
                   const std::filesystem::path& memory = kMemoryFolder);

// A shared lock of a folder, to show that its files are in use: null where the file system has no
// locks. It is gone with the process.
Fd use_folder(const std::filesystem::path& folder);
// An exclusive lock of a folder that nobody uses; null where the file system has no locks, nothing
// where somebody does use it.
std::optional<Fd> lock_unused(const std::filesystem::path& folder);
// Processes that lock it, as far as the system tells; of other machines and containers it may not.
std::vector<int> users_of(const std::filesystem::path& folder);
// "process 17 uses it", for messages.
std::string in_words(std::span<const int> users);

}  // namespace winnow::pipeline

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/file.h"
#include "pipeline/store/partition.h"

// Where shards can be, what room there is, and who uses them.
namespace winnow::pipeline {

// Whose files are in the memory of the machine, until it restarts.
inline constexpr const char* kMemoryFolder = "/dev/shm";

// Of each of `nodes` machines the shards it holds, of these bytes: numbers, ascending. Consecutive
// machines form `replicas` groups, each of which has every shard once; in a group, what two
// machines hold differs by the largest shard at most. Pure. UsageError for more replicas than
// machines.
std::vector<std::vector<std::uint32_t>> hold_shards(std::span<const std::uint64_t> bytes, int nodes,
                                                    int replicas);

// The same by partitions of the ids, for machines that each read as many, in their order: of
// `replicas` groups each has every partition once, and each machine holds those that it reads
// itself, for any number of replicas that divides that of machines. Pure. UsageError likewise.
std::vector<Partitions> hold_partitions(int partitions, int nodes, int replicas);

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

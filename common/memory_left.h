#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace winnow {

// Memory in bytes that this process may still take; kNoMemoryLimit if unlimited or unknown.
inline constexpr std::uint64_t kNoMemoryLimit = ~std::uint64_t{0};

// Limit of the machine: MemAvailable.
std::uint64_t machine_memory_left();

// Limit of this process's control groups (versions 2 and 1), all enclosing groups included. Cached
// files count as free. `root` contains /proc and /sys.
std::uint64_t group_memory_left(const std::filesystem::path& root = "/");

// Memory held by this process, without mapped files other than its code.
std::uint64_t memory_held();

// Size of the executable files mapped in `smaps` (text in the form of /proc/PID/smaps): program and
// libraries with their read-only data. Modified pages do not count, because they are the process's
// own memory.
std::uint64_t code_bytes(std::string_view smaps);

// The value of the line "NAME value" in a file, times `unit`; nullopt if there is none.
std::optional<std::uint64_t> read_memory_field(const std::filesystem::path& file,
                                               const std::string& name, std::uint64_t unit);

}  // namespace winnow

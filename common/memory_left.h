#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace winnow {

// A number of bytes that stands for unlimited memory, or for an unknown limit.
inline constexpr std::uint64_t kNoMemoryLimit = ~std::uint64_t{0};

// Memory in bytes that the machine can still give to processes (MemAvailable).
std::uint64_t machine_memory_left();

// Memory in bytes that this process may still take within the limits of its control groups
// (versions 2 and 1) and the groups around them. Cached files count as free. `root` contains /proc
// and /sys.
std::uint64_t group_memory_left(const std::filesystem::path& root = "/");

// Memory in bytes held by this process. Mapped files do not count, except program code.
std::uint64_t memory_held();

// Size in bytes of the program and its libraries in memory, with their read-only data. Modified
// pages do not count, because they are the process's own memory.
// smaps  Text of /proc/PID/smaps.
std::uint64_t code_bytes(std::string_view smaps);

// The number in the line "NAME number" of a file, times `unit`; nullopt if there is none.
std::optional<std::uint64_t> read_memory_field(const std::filesystem::path& file,
                                               const std::string& name, std::uint64_t unit);

}  // namespace winnow

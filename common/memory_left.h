#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace winnow {

// Bytes of memory that this process may still take. kNoMemoryLimit where nothing says.
inline constexpr std::uint64_t kNoMemoryLimit = ~std::uint64_t{0};

// By the machine: MemAvailable.
std::uint64_t machine_memory_left();

// By the control groups of this process, version 2 and 1. Each group up to the top counts. Cached
// files count as free. `root`: where /proc and /sys are looked for.
std::uint64_t group_memory_left(const std::filesystem::path& root = "/");

// Bytes this process holds itself, without mapped files.
std::uint64_t memory_held();

// The value of the line "NAME value" of a file, times `unit`; none where there is no such line.
std::optional<std::uint64_t> read_memory_field(const std::filesystem::path& file,
                                               const std::string& name, std::uint64_t unit);

}  // namespace winnow

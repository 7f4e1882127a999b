#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace winnow {

// Bytes of memory that this process may still take. kNoMemoryLimit where nothing says.
inline constexpr std::uint64_t kNoMemoryLimit = ~std::uint64_t{0};

// By the machine: MemAvailable.
std::uint64_t machine_memory_left();

// By the control groups of this process, version 2 and 1. Each group up to the top counts. Cached
// files count as free. `root`: where /proc and /sys are looked for.
std::uint64_t group_memory_left(const std::filesystem::path& root = "/");

// Bytes this process holds itself, without mapped files but for its code.
std::uint64_t memory_held();

// Bytes of the files among `smaps`, text as of /proc/PID/smaps, that are mapped to be executed: a
// program and its libraries, with what they bring that is only read. Pages that it has changed do
// not count: they are memory of its own.
std::uint64_t code_bytes(std::string_view smaps);

// The value of the line "NAME value" of a file, times `unit`; none where there is no such line.
std::optional<std::uint64_t> read_memory_field(const std::filesystem::path& file,
                                               const std::string& name, std::uint64_t unit);

}  // namespace winnow

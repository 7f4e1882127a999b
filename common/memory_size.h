#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace winnow {

// Whole MiB of a memory size as people write it: "8G", "512M", "1.5GiB", "1T"; a number alone is of
// MiB. Units are powers of 1024, in any case. nullopt: it is none, or less than one MiB and not 0,
// or 2^64 bytes and more.
std::optional<std::uint64_t> parse_mib(std::string_view text);

}  // namespace winnow

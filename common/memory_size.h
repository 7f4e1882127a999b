#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace winnow {

// Parses a memory size such as "8G", "512M", "1.5GiB" or "1T" into whole MiB. A plain number is in
// MiB. Units are powers of 1024, in upper or lower case.
// nullopt for other texts, for sizes below 1 MiB except 0, and for 2^64 bytes or more.
std::optional<std::uint64_t> parse_mib(std::string_view text);

}  // namespace winnow

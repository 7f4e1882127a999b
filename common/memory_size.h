#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace winnow {

// Parses a memory size into whole MiB: "8G", "512M", "1.5GiB", "1T"; a plain number is in MiB.
// Units are powers of 1024, in any case.
// nullopt for other texts, for sizes below 1 MiB except 0, and for 2^64 bytes or more.
std::optional<std::uint64_t> parse_mib(std::string_view text);

}  // namespace winnow

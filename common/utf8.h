#pragma once

#include <string>
#include <string_view>

namespace winnow {

// Lossless conversion between bytes and UTF-8, for file names (bytes) in JSON (UTF-8).
//
// Escapes  Each byte that is not part of valid UTF-8 becomes a private-use character U+EF80..U+EFFF
//          (byte b as U+EF00 + b). Bytes that would decode to these characters are encoded
//          likewise. So from_utf8(to_utf8(x)) == x for any x.
// Why own  ICU and utfcpp replace or refuse invalid UTF-8, and names must be restored exactly.
std::string to_utf8(std::string_view bytes);
std::string from_utf8(std::string_view text);

}  // namespace winnow

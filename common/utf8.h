#pragma once

#include <string>
#include <string_view>

namespace winnow {

// Why not ICU or utfcpp: they replace or refuse what is no UTF-8, and names must come back as they
// were.
//
// File names are bytes, JSON is UTF-8. Each byte that is not part of valid UTF-8 becomes one
// character of U+EF80..U+EFFF (private use, byte b as U+EF00 + b); bytes that would themselves
// decode to these characters are written in the same way, so from_utf8(to_utf8(x)) == x for any x.
std::string to_utf8(std::string_view bytes);
std::string from_utf8(std::string_view text);

}  // namespace winnow

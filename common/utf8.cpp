#include "common/utf8.h"

#include <algorithm>

namespace winnow {
namespace {

// Length of the well-formed UTF-8 character at the start of `text` (Unicode 15, table 3-7), or 0.
std::size_t character_bytes(std::string_view text) noexcept {
  const auto at = [text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto within = [&at](std::size_t i, unsigned low, unsigned high) {
    return at(i) >= low && at(i) <= high;
  };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return within(1, 0x80, 0xBF) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : 0xBF;
    return within(1, low, high) && within(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
    return within(1, low, high) && within(2, 0x80, 0xBF) && within(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

// U+EF80..U+EFFF is EE BE 80 .. EE BF BF.
bool is_escape(std::string_view character) noexcept {
  return character.size() == 3 && character[0] == '\xEE' &&
         (character[1] == '\xBE' || character[1] == '\xBF');
}

}  // namespace

std::string to_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t count = character_bytes(bytes);
    if (count != 0 && !is_escape(bytes.substr(0, count))) {
      text += bytes.substr(0, count);
      bytes.remove_prefix(count);
      continue;
    }
    const auto byte = static_cast<unsigned char>(bytes[0]);  // >= 0x80
    text += '\xEE';
    text += static_cast<char>(0xBC + (byte >> 6));
    text += static_cast<char>(0x80 | (byte & 0x3F));
    bytes.remove_prefix(1);
  }
  return text;
}

std::string from_utf8(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  while (!text.empty()) {
    const std::size_t count = std::max<std::size_t>(1, character_bytes(text));
    const std::string_view character = text.substr(0, count);
    if (is_escape(character)) {
      bytes += static_cast<char>(((static_cast<unsigned char>(character[1]) - 0xBC) << 6) |
                                 (static_cast<unsigned char>(character[2]) & 0x3F));
    } else {
      bytes += character;
    }
    text.remove_prefix(count);
  }
  return bytes;
}

}  // namespace winnow

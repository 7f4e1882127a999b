#pragma once

#include <string_view>

#include "common/bytes.h"

namespace winnow::test {

inline Bytes from_base64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  Bytes bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<std::uint32_t>(kDigits.find(c));
    count += 6;
    if (count >= 8) bytes.push_back(static_cast<std::byte>(bits >> (count -= 8) & 255));
  }
  return bytes;
}

}  // namespace winnow::test

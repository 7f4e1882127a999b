#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace winnow {

// A count with the right form of its noun: "1 image", "3 images"; "1 class is", "2 classes are".
// The plural is `many`, or else `one` with an s.
inline std::string count_of(std::uint64_t count, std::string_view one, std::string_view many = {}) {
  const std::string text = std::to_string(count) + " ";
  if (count == 1) return text + std::string(one);
  return text + (many.empty() ? std::string(one) + "s" : std::string(many));
}

}  // namespace winnow

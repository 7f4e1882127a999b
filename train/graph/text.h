#pragma once

#include <array>
#include <charconv>
#include <string>
#include <vector>

namespace winnow::train {

// Returns the shortest decimal text that reads back as the same number.
template <class T>
std::string number_text(T number) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return {digits.data(), end};
}

// Returns a list of numbers as text, such as "[0.5,0.25]".
template <class T>
std::string list_text(const std::vector<T>& numbers) {
  std::string text = "[";
  for (const T number : numbers) {
    if (text.size() > 1) text += ",";
    text += number_text(number);
  }
  return text + "]";
}

}  // namespace winnow::train

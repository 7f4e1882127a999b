#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow::app {

// Formats UTF-8 text for columns of a terminal. Each character is assumed to be one column wide.

int width_of(std::string_view text);
std::string cut(std::string text, int width);  // cuts off what exceeds `width`
// Text of exactly `width` columns: cut, or padded on the right.
std::string padded(std::string text, int width);
std::string aligned_right(std::string text, int width);  // pads on the left to `width`
std::string repeated(std::string_view character, int count);

// Breaks text between words into lines of at most `width` columns. All but the first are indented
// by two blanks. Text beyond `most` lines is cut off.
std::vector<std::string> wrapped(std::string_view text, int width, int most);

// A line with `left` at the left edge and `right` at the right edge, if both fit.
std::string ends(const std::string& left, const std::string& right, int width);

}  // namespace winnow::app

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow::app {

// Text in columns of a terminal: UTF-8. Every character is taken to be one column wide.

int width_of(std::string_view text);
std::string cut(std::string text, int width);  // at most `width` wide
// exactly `width` wide: cut, or padded on the right
std::string padded(std::string text, int width);
std::string aligned_right(std::string text, int width);  // padded on the left
std::string repeated(std::string_view character, int count);

// Breaks text between words into lines of at most `width`. Further lines are indented by two
// blanks. What does not fit into `most` lines is cut.
std::vector<std::string> wrapped(std::string_view text, int width, int most);

// Puts `right` at the right edge, if both fit.
std::string ends(const std::string& left, const std::string& right, int width);

}  // namespace winnow::app

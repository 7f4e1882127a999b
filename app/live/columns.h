#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow::app {

// Text in columns of a terminal: UTF-8, of which every character is taken to be one column wide.

int width_of(std::string_view text);
std::string cut(std::string text, int width);     // at most so wide
std::string padded(std::string text, int width);  // exactly so wide, cut or with blanks behind
std::string aligned_right(std::string text, int width);  // with blanks before
std::string repeated(std::string_view character, int count);

// In lines of at most `width`, broken between words where that can be, the further ones with two
// blanks before; what does not fit into `most` lines is cut.
std::vector<std::string> wrapped(std::string_view text, int width, int most);

// `right` stands at the right edge, where both fit.
std::string ends(const std::string& left, const std::string& right, int width);

}  // namespace winnow::app

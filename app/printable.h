#pragma once

#include <string>
#include <string_view>

namespace winnow::app {

// `text` without characters that command a terminal: names of files and what is in files may have
// come from anywhere.
std::string printable(std::string_view text);
// The same of what is said in an error, which may quote files: at most some 7,000 bytes of it, and
// some 250 of what stands in quotes.
std::string printable_sentence(std::string_view text);

}  // namespace winnow::app

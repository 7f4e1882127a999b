#pragma once

#include <string>
#include <string_view>

namespace winnow::app {

// `text` without characters that control a terminal. For names and contents of files, which are not
// trusted.
std::string printable(std::string_view text);
// printable() for the message of an error, which may quote files. The result has at most about
// 7,000 bytes, and about 250 bytes of each quoted part.
std::string printable_sentence(std::string_view text);

}  // namespace winnow::app

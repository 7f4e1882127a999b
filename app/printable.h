#pragma once

#include <string>
#include <string_view>

namespace winnow::app {

// `text` without characters that control a terminal. Names and contents of files may come from
// anywhere.
std::string printable(std::string_view text);
// As printable(), for a message of an error, which may quote files: at most about 7,000 bytes, and
// about 250 of each quoted part.
std::string printable_sentence(std::string_view text);

}  // namespace winnow::app

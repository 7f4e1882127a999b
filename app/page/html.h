#pragma once

#include <string>
#include <string_view>

namespace winnow::app {

// Any bytes as people read them: what is not UTF-8 or commands a terminal is \xE9.
std::string shown(std::string_view bytes);

// The same as text of an HTML (and XML) page: markup is escaped.
std::string escaped(std::string_view bytes);

// The beginning of shown(), of what is longer than about a line: at most 100 bytes and an ellipsis.
std::string shown_short(std::string_view bytes);

// A name from data: escaped, and kept apart from the text around it, whose direction it could turn.
std::string name_html(std::string_view bytes);

// As a shell takes it as one word, whatever bytes it holds.
std::string shell_word(std::string_view bytes);

}  // namespace winnow::app

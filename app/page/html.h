#pragma once

#include <string>
#include <string_view>

namespace winnow::app {

// Any bytes as readable text: bytes that are no UTF-8, and control characters, become \xE9.
std::string shown(std::string_view bytes);

// shown() as text of an HTML (and XML) page, with markup escaped.
std::string escaped(std::string_view bytes);

// The beginning of shown() for texts longer than about a line: at most 100 bytes and an ellipsis.
std::string shown_short(std::string_view bytes);

// A name from data: escaped, and isolated from the text around it, whose direction it could change.
std::string name_html(std::string_view bytes);

// Quoted as one word for a shell, whatever bytes it contains.
std::string shell_word(std::string_view bytes);

}  // namespace winnow::app

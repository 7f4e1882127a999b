#pragma once

#include <string>
#include <string_view>

namespace winnow::app {

// Makes any bytes readable: control characters and bytes that are not UTF-8 become \xE9.
std::string shown(std::string_view bytes);

// shown() for an HTML (and XML) page, with markup characters escaped.
std::string escaped(std::string_view bytes);

// shown() cut to about a line: at most 100 bytes and an ellipsis.
std::string shown_short(std::string_view bytes);

// HTML for a name that comes from data: escaped, and isolated, so that right-to-left text does not
// change the direction of the text around it.
std::string name_html(std::string_view bytes);

// Any bytes, quoted as one word for a shell.
std::string shell_word(std::string_view bytes);

}  // namespace winnow::app

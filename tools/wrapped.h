#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace winnow::tools {

// Wraps help for a terminal of this width: no line is wider unless one word is. 0: unchanged. Pure.
//
// Paragraphs   lines without indentation are filled anew
// Columns      text after two or more blanks continues below itself
// Commands     of examples end in a backslash where they continue; a remark after one that is too
//              long comes before it
// Long words   lists without blanks, as {a,b,c}, break after a comma
std::string wrapped_help(std::string_view text, std::size_t columns);

// The width from COLUMNS; else that of the terminal at a file descriptor; else 80. COLUMNS=0: lines
// are not wrapped.
std::size_t help_columns(int stream);

}  // namespace winnow::tools

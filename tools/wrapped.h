#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace winnow::tools {

// Wraps a help text for a terminal of this width: no line is wider unless a single word is. 0:
// unchanged. Pure.
//
// Paragraphs  lines without indentation are filled anew
// Columns     text after two or more blanks continues below itself
// Commands    in examples get a backslash where they continue; if a line is too long, its remark
//             moves before it
// Long words  lists without blanks, such as {a,b,c}, break after a comma
std::string wrapped_help(std::string_view text, std::size_t columns);

// The width for help: the variable COLUMNS; else the width of the terminal at the file descriptor
// `stream`; else 80. COLUMNS=0: lines are not wrapped.
std::size_t help_columns(int stream);

}  // namespace winnow::tools

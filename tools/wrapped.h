#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace winnow::tools {

// Help for a terminal of so many columns: no line is wider unless one word is. 0: as it is. Pure.
//
// Paragraphs   of lines that are not indented are filled anew
// Columns      what follows two blanks and more goes on below itself
// Commands     of examples end in a backslash where they go on; a remark behind one that is too
// long
//              stands before it
// Long words   lists without blanks, as {a,b,c}, break behind a comma
std::string wrapped_help(std::string_view text, std::size_t columns);

// Columns as COLUMNS says; else of the terminal that a file descriptor is; else 80. COLUMNS=0:
// lines as long as they are.
std::size_t help_columns(int stream);

}  // namespace winnow::tools

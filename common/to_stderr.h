#pragma once

#include <string_view>

namespace winnow {

// The only way to the standard error. What is said there is for people, and nobody may be left to
// read it: the disk of a log is full, the terminal is closed, a reader has ended. Work goes on
// then.
//
// Text     Any bytes, as they are. say_line() adds the end of the line.
// Errors   None: what cannot be written is left out. It never throws.
// Threads  Any. A text of up to PIPE_BUF bytes is in one piece.
void to_stderr(std::string_view text) noexcept;
void say_line(std::string_view line) noexcept;

// Opens what of the standard input, output and error is closed, on nothing: else the first file
// that is opened would have its number, and get what is said. Call it before any file is opened.
void keep_standard_streams() noexcept;

}  // namespace winnow

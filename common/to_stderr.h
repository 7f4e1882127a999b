#pragma once

#include <string_view>

namespace winnow {

// Writes to standard error; nothing else in winnow does. Its reader may be gone (full log disk,
// closed terminal, ended program); the program continues.
//
// Text     Any bytes, unchanged. say_line() adds the line end.
// Errors   None: text that cannot be written is dropped. Never throws.
// Threads  Any. Texts of up to PIPE_BUF bytes are not interleaved.
void to_stderr(std::string_view text) noexcept;
void say_line(std::string_view line) noexcept;

// Opens closed standard streams as /dev/null. Otherwise the first opened file would get the number
// of one of them, and receive messages. Call it before opening any file.
void keep_standard_streams() noexcept;

}  // namespace winnow

#pragma once

#include <string_view>

namespace winnow {

// The only way to write to standard error. Its readers may be gone (full log disk, closed terminal,
// ended program); work continues then.
//
// Text     Any bytes, unchanged. say_line() adds the line end.
// Errors   None: what cannot be written is dropped. Never throws.
// Threads  Any. A text of up to PIPE_BUF bytes is not interleaved.
void to_stderr(std::string_view text) noexcept;
void say_line(std::string_view line) noexcept;

// Opens closed standard streams on /dev/null, because otherwise the first opened file would get
// their number, and receive messages. Call it before opening any file.
void keep_standard_streams() noexcept;

}  // namespace winnow

#pragma once

namespace winnow::tools {

// Sets bytes to write to stderr before a signal ends this process at once, such as to restore a
// terminal. They must stay valid. Null: none. Thread-safe.
void set_last_words(const char* text) noexcept;

// Returns the bytes and resets them to null. For a signal handler.
const char* take_last_words() noexcept;

}  // namespace winnow::tools

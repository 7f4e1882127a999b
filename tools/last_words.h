#pragma once

namespace winnow::tools {

// Bytes that go to stderr before a signal ends this process there and then, as to bring a terminal
// back; they outlive that. Null: none. Safe from any thread.
void set_last_words(const char* text) noexcept;

// Takes them: nullptr from then on. For a handler of signals.
const char* take_last_words() noexcept;

}  // namespace winnow::tools

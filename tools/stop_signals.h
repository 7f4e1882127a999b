#pragma once

#include <cstdint>

namespace winnow::tools {

// A monotonic clock in milliseconds. Callable from a signal handler.
using SignalClock = std::int64_t (*)() noexcept;
std::int64_t monotonic_ms() noexcept;

// From now on these signals ask this process to stop: SIGINT (Ctrl-C), SIGTERM (users and batch
// systems), SIGUSR1 (warning of batch systems), SIGHUP (a closed terminal).
//
// asks     The verb polls stop_requested(), and ends as soon as its files are consistent. A second
//          signal of the same kind, more than a second later, ends it at once, as that signal does.
// !asks    The verb has nothing to finish or to undo: the first signal ends it, with a sentence and
//          exit code 75.
// Ignored  SIGINT stays ignored if it was, as in the background of a shell, and so does SIGHUP, as
//          under nohup.
// Early    A signal before main(), while libraries are loaded (0.1 s), ends the process as signals
//          do by default.
// Threads  A thread of its own takes these signals. The caller and threads that it starts block
//          them from now on, so call it before any thread starts. Child processes block them, too,
//          unless they get a signal mask.
void stop_on_signals(bool asks, SignalClock clock = &monotonic_ms);

// Marks a phase in which the process has nothing to finish: while the object lives, the first
// signal ends the process, as for a verb that does not ask. One at a time. Throws StoppedError if a
// signal came before.
class NothingToFinish {
 public:
  NothingToFinish();
  ~NothingToFinish();
  NothingToFinish(const NothingToFinish&) = delete;
  NothingToFinish& operator=(const NothingToFinish&) = delete;

 private:
  bool asked_;
};

// Whether a signal asked this process to stop. Thread-safe. Once true it stays true.
bool stop_requested() noexcept;

// Sets bytes that are written to stderr at the first SIGTERM of a verb that polls stop_requested().
// They come from set_last_words() (last_words.h).
void set_words_at_term(const char* text) noexcept;

// Ends the process with a sentence if a mapped file is truncated, or its storage fails (SIGBUS).
void explain_bus_errors();

}  // namespace winnow::tools

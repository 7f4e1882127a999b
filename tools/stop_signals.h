#pragma once

#include <cstdint>

namespace winnow::tools {

// A monotonic clock in ms. Callable from a signal handler.
using SignalClock = std::int64_t (*)() noexcept;
std::int64_t monotonic_ms() noexcept;

// From now on these signals ask this process to stop: SIGINT (Ctrl-C), SIGTERM (people and batch
// systems), SIGUSR1 (warning of batch systems), SIGHUP (a closed terminal).
//
// asks     The verb polls stop_requested(), and ends at its next clean place. A second signal of
//          the same kind, more than a second later, ends it at once, as that signal does.
// !asks    The verb has nothing to finish or to undo: the first signal ends it, with a sentence and
//          exit code 75.
// Ignored  SIGINT stays ignored if it was, as in the background of a shell, and so does SIGHUP, as
//          under nohup.
// Early    A signal before main(), while libraries are loaded (a tenth of a second), ends the
//          process as signals do.
// Threads  One of its own takes these signals. The caller and threads that it starts block them
//          from now on, so call it before any thread starts. Child processes block them, too,
//          unless they get a signal mask.
void stop_on_signals(bool asks, SignalClock clock = &monotonic_ms);

// While it lives there is nothing to finish, so the first signal ends the process, as for a verb
// that does not ask. One at a time. Throws StoppedError if a signal came before.
class NothingToFinish {
 public:
  NothingToFinish();
  ~NothingToFinish();
  NothingToFinish(const NothingToFinish&) = delete;
  NothingToFinish& operator=(const NothingToFinish&) = delete;

 private:
  bool asked_;
};

// Thread-safe. Once true it stays true.
bool stop_requested() noexcept;

// Bytes that go to stderr at the first SIGTERM of a verb that asks, see set_last_words()
// (last_words.h).
void set_words_at_term(const char* text) noexcept;

// If a mapped file is truncated, or its storage fails, the process ends with a sentence.
void explain_bus_errors();

}  // namespace winnow::tools

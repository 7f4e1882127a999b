#pragma once

#include <cstdint>

namespace winnow::tools {

// A clock in ms that never reads less than before. A signal handler may ask it.
using SignalClock = std::int64_t (*)() noexcept;
std::int64_t monotonic_ms() noexcept;

// From now on Ctrl-C (SIGINT), SIGTERM, by which people and batch systems end work, SIGUSR1, by
// which batch systems warn, and SIGHUP, which comes when a terminal is closed, ask this process to
// stop.
//
// asks   The verb asks stop_requested(), and ends at its next clean place. A second signal of one
//        kind, more than a second later, ends it there and then, as that signal does.
// !asks  The verb has nothing to finish or to take back: the first one ends it, with a sentence and
//        exit code 75.
//
// SIGINT stays ignored where it is, as in what a shell runs in the background, and so does SIGHUP,
// as under nohup. A signal that comes before main(), while libraries are loaded (a tenth of a
// second), ends the process as signals do.
//
// Threads  A thread of its own takes these signals. The caller blocks them from now on, and so do
//          the threads that it starts: call it before any is started. Children that a process
//          starts block them, too, unless they are given a mask of signals
void stop_on_signals(bool asks, SignalClock clock = &monotonic_ms);

// While it lives there is nothing to finish yet, and the first signal ends the process, as that of
// a verb that does not ask. One at a time. Throws StoppedError where one came before.
class NothingToFinish {
 public:
  NothingToFinish();
  ~NothingToFinish();
  NothingToFinish(const NothingToFinish&) = delete;
  NothingToFinish& operator=(const NothingToFinish&) = delete;

 private:
  bool asked_;
};

// Safe from any thread; once true it stays so.
bool stop_requested() noexcept;

// Bytes that go to stderr at the first SIGTERM of a verb that asks. As set_last_words()
// (last_words.h).
void set_words_at_term(const char* text) noexcept;

// A file that is cut short, or whose storage fails, while it is mapped ends the process with a
// sentence.
void explain_bus_errors();

}  // namespace winnow::tools

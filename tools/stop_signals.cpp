#include "tools/stop_signals.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <ctime>

#include "common/error.h"
#include "common/to_stderr.h"
#include "tools/last_words.h"

namespace winnow::tools {
namespace {

// When the first signal of a kind came, in ms of the clock, plus 1; 0: not yet. Static, because a
// signal handler reaches nothing else.
std::atomic<std::int64_t> first_int{0};
std::atomic<std::int64_t> first_term{0};
std::atomic<std::int64_t> first_usr1{0};
std::atomic<std::int64_t> first_hup{0};
std::atomic<SignalClock> clock_ms{&monotonic_ms};
std::atomic<bool> verb_asks{false};
std::atomic<bool> has_bus_error{false};
std::atomic<const char*> words_at_term{nullptr};
static_assert(std::atomic<const char*>::is_always_lock_free);
static_assert(std::atomic<std::int64_t>::is_always_lock_free);
static_assert(std::atomic<SignalClock>::is_always_lock_free);

constexpr std::array kSignals{SIGINT, SIGTERM, SIGUSR1, SIGHUP};
// exit code of a StoppedError, as in comm::exit_code_of_current_exception
constexpr int kStopped = 75;

// A signal that the parent may have ignored, as nohup does, and whether it did.
struct Ignorable {
  int number;
  bool at_start = false;
};
std::array<Ignorable, 2> ignorable{{{SIGINT}, {SIGHUP}}};

bool is_ignored(const Ignorable& signal) {
  struct sigaction now {};
  sigaction(signal.number, nullptr, &now);
  // A library's handler replaced it: UCX, which comes with Open MPI 5, takes SIGHUP before main()
  // begins.
  const bool was_taken = signal.at_start && now.sa_handler != SIG_DFL;
  return now.sa_handler == SIG_IGN || was_taken;
}

// Sanitizers cannot be called so early, and need not be.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void note_ignored() {
  for (Ignorable& signal : ignorable) signal.at_start = is_ignored(signal);
}
// Called before any constructor of a library.
[[gnu::section(".preinit_array"), gnu::used]] void (*const note_ignored_first)() = &note_ignored;
#endif

std::atomic<std::int64_t>& first_of(int number) noexcept {
  return number == SIGINT    ? first_int
         : number == SIGTERM ? first_term
         : number == SIGHUP  ? first_hup
                             : first_usr1;
}

void say_last_words() noexcept {
  if (const char* const text = take_last_words()) to_stderr(text);
}

// Signals within a second count as one: batch systems signal every process of a job, and mpirun
// forwards what it gets.
extern "C" void note_signal(int number) {
  const std::int64_t ms = clock_ms.load()() + 1;
  std::int64_t first = 0;
  if (first_of(number).compare_exchange_strong(first, ms)) {
    if (!verb_asks) {
      say_last_words();
      to_stderr("winnow: stopped before the end; run the same command again\n");
      ::_exit(kStopped);
    }
    if (number == SIGINT) {
      to_stderr("\nstopping at the next clean place; Ctrl-C again ends it at once\n");
    }
    const char* const words = words_at_term;
    if (number == SIGTERM && words != nullptr) to_stderr(words);
    return;
  }
  if (ms - first <= 1000) return;
  say_last_words();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

// The pages of others are complete, so ending here loses nothing.
extern "C" void say_bus_error(int) {
  if (has_bus_error.exchange(true)) {
    for (;;) ::pause();  // another thread reports it
  }
  say_last_words();
  to_stderr(
      "winnow: a file was cut short, or its storage failed, while it was being read, for example "
      "because a cache or an index was overwritten in place; restore the file (.landmarks of an "
      "index may be removed instead: they are computed again), and run the same command again\n");
  ::_exit(1);
}

// Runs the handlers on this thread only; all others block these signals. Kernels of oneDNN for f32
// matrix products let the stack register point to their data, and a handler would overwrite what is
// below it. That damaged the heap of a stopped training.
void* take_signals(void* numbers) {
  pthread_sigmask(SIG_UNBLOCK, static_cast<const sigset_t*>(numbers), nullptr);
  for (;;) ::pause();
}

// Later threads inherit the mask of the thread that starts them. If no thread can be started,
// nothing is blocked.
void give_signals_a_thread(sigset_t& numbers) noexcept {
  pthread_sigmask(SIG_BLOCK, &numbers, nullptr);
  pthread_t thread{};
  if (::pthread_create(&thread, nullptr, &take_signals, &numbers) == 0) {
    ::pthread_detach(thread);
  } else {
    pthread_sigmask(SIG_UNBLOCK, &numbers, nullptr);
  }
}

}  // namespace

std::int64_t monotonic_ms() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

void stop_on_signals(bool asks, SignalClock clock) {
  verb_asks = asks;
  clock_ms = clock;
  static std::atomic<bool> begun{false};
  if (begun.exchange(true)) return;
  static sigset_t taken;
  sigemptyset(&taken);
  for (const int number : kSignals) sigaddset(&taken, number);
  for (const Ignorable& signal : ignorable) {
    if (!is_ignored(signal)) continue;
    sigdelset(&taken, signal.number);
    std::signal(signal.number, SIG_IGN);
  }
  struct sigaction action {};
  action.sa_handler = &note_signal;
  action.sa_flags = SA_RESTART;
  action.sa_mask = taken;
  for (const int number : kSignals) {
    if (sigismember(&taken, number) == 1) sigaction(number, &action, nullptr);
  }
  give_signals_a_thread(taken);
}

NothingToFinish::NothingToFinish() : asked_(verb_asks.exchange(false)) {
  if (!stop_requested()) return;
  verb_asks = asked_;
  throw StoppedError("stopped before the end; run the same command again");
}
NothingToFinish::~NothingToFinish() { verb_asks = asked_; }

bool stop_requested() noexcept {
  return first_int != 0 || first_term != 0 || first_usr1 != 0 || first_hup != 0;
}

void set_words_at_term(const char* text) noexcept { words_at_term = text; }

void explain_bus_errors() { std::signal(SIGBUS, &say_bus_error); }

}  // namespace winnow::tools

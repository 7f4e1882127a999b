#include "common/to_stderr.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <string>

namespace winnow {
namespace {

// Suppresses the SIGPIPE of this thread's writes: the end of a reader must not end the writer.
class NoPipeSignal {
 public:
  NoPipeSignal() noexcept {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    const timespec now{};
    if (broken_ && !was_pending_) sigtimedwait(&pipe_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

  void is_broken() noexcept { broken_ = true; }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
  bool broken_ = false;
};

// A blocked terminal may accept more in a moment.
bool takes_more() noexcept {
  constexpr int kPatienceMs = 1000;
  pollfd terminal{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  return ::poll(&terminal, 1, kPatienceMs) > 0 && (terminal.revents & POLLOUT) != 0;
}

}  // namespace

void to_stderr(std::string_view text) noexcept {
  const int error = errno;
  NoPipeSignal pipe;
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && (errno == EINTR || (errno == EAGAIN && takes_more()))) continue;
    if (written < 0 && errno == EPIPE) pipe.is_broken();
    if (written <= 0) break;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  errno = error;
}

void say_line(std::string_view line) noexcept {
  try {
    to_stderr(std::string(line) + '\n');
  } catch (...) {  // no memory for a copy
    to_stderr(line);
    to_stderr("\n");
  }
}

void keep_standard_streams() noexcept {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
    [[maybe_unused]] const int opened =
        ::open("/dev/null", number == STDIN_FILENO ? O_RDONLY : O_WRONLY);
  }
}

}  // namespace winnow

#include "common/to_stderr.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>

namespace winnow::to_stderr_test {

// Replaces stderr by another descriptor; -1: closed.
class Replaced {
 public:
  explicit Replaced(int with) : before_(::dup(STDERR_FILENO)) {
    if (with >= 0) {
      ::dup2(with, STDERR_FILENO);
    } else {
      ::close(STDERR_FILENO);
    }
  }
  ~Replaced() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
  }
  Replaced(const Replaced&) = delete;
  Replaced& operator=(const Replaced&) = delete;

 private:
  int before_;
};

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe(ends.data()), 0); }
  void close_reader() { ::close(ends[0]); }
  std::array<int, 2> ends{};
};

TEST(ToStderr, WritesWhatItIsGiven) {
  Pipe pipe;
  {
    const Replaced stderr_is(pipe.ends[1]);
    to_stderr("one ");
    say_line("line");
  }
  ::close(pipe.ends[1]);
  std::array<char, 64> text{};
  const ssize_t size = ::read(pipe.ends[0], text.data(), text.size());
  ASSERT_GT(size, 0);
  EXPECT_EQ(std::string(text.data(), static_cast<std::size_t>(size)), "one line\n");
  ::close(pipe.ends[0]);
}

// No failure ends the process, and errno is preserved.
TEST(ToStderr, GoesOnWhereNothingCanBeWritten) {
  const std::string large(1 << 20, 'x');
  Pipe broken;
  broken.close_reader();
  const int full = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  for (const int kind : {broken.ends[1], full, -1}) {
    const Replaced stderr_is(kind);
    for (const std::string& text : {std::string(), std::string("a sentence"), large}) {
      errno = EDOM;
      to_stderr(text);
      say_line(text);
      EXPECT_EQ(errno, EDOM);
    }
  }
  sigset_t pending;
  ASSERT_EQ(::sigpending(&pending), 0);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
  ::close(full);
  ::close(broken.ends[1]);
}

TEST(ToStderr, LeavesAPipeSignalOfOthersAlone) {
  sigset_t pipe_signal;
  sigset_t before;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &pipe_signal, &before), 0);
  ASSERT_EQ(::raise(SIGPIPE), 0);
  Pipe broken;
  broken.close_reader();
  {
    const Replaced stderr_is(broken.ends[1]);
    say_line("a sentence");
  }
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 1);
  const timespec now{};
  sigtimedwait(&pipe_signal, nullptr, &now);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(broken.ends[1]);
}

// In a child, because it closes what this process needs.
TEST(ToStderrDeathTest, AClosedStreamIsNoNumberOfAFile) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::close(STDIN_FILENO);
        ::close(STDERR_FILENO);
        keep_standard_streams();
        const int file = ::open("/dev/null", O_WRONLY);
        ::_exit(file > STDERR_FILENO && ::fcntl(STDERR_FILENO, F_GETFD) >= 0 ? 7 : 1);
      },
      testing::ExitedWithCode(7), "");
}

}  // namespace winnow::to_stderr_test

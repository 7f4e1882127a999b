#pragma once

#include <stdexcept>
#include <string>

namespace winnow {

// Base of errors that end a stage. Broken data is no exception but a value with a class and a
// reason (see Expected). All others are one of these, caught once, in main.
// Messages are one sentence that names the object (path, record id, tensor, rank) and says what to
// do.
class Error : public std::runtime_error {
 public:
  // Zero bytes in a forged name become '?', because what() would end at the first.
  explicit Error(const std::string& message);
};

// The request makes no sense. Exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

// A gate set by the user refuses the data: leaks between splits, too many bad inputs. Exit code 3.
class RefusedError : public Error {
 public:
  using Error::Error;
};

// A file of ours is damaged, truncated or of a newer version. Exit code 1.
class FormatError : public Error {
 public:
  using Error::Error;
};

// The operating system or a C library reported an error. Exit code 1.
class SystemError : public Error {
 public:
  using Error::Error;
};

// Ended early, at a clean point, on request (see stop.h). Finished work is kept; the same command
// resumes. Exit code 75.
class StoppedError : public Error {
 public:
  using Error::Error;
};

// "`what` /path: No space left on device", by the current errno.
[[noreturn]] void throw_errno(const std::string& what);

}  // namespace winnow

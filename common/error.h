#pragma once

#include <stdexcept>
#include <string>

namespace winnow {

// Base class of all errors that are thrown. main catches them once and ends the command. Broken
// input data are no exceptions, but values with a reason (see Expected).
// A message is one sentence that names the object (path, record id, tensor, rank) and says what to
// do.
class Error : public std::runtime_error {
 public:
  // Replaces zero bytes, as a forged name may have, by '?', because what() would end at the first.
  explicit Error(const std::string& message);
};

// The user requested something impossible. Exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

// The data do not pass a check that the user set: leaks between splits, too many bad inputs. Exit
// code 3.
class RefusedError : public Error {
 public:
  using Error::Error;
};

// A file that winnow wrote is damaged, truncated or of a newer version. Exit code 1.
class FormatError : public Error {
 public:
  using Error::Error;
};

// The operating system or a C library reported an error. Exit code 1.
class SystemError : public Error {
 public:
  using Error::Error;
};

// The command ended early on request (see stop.h), at a point where finished work is kept; the same
// command resumes. Exit code 75.
class StoppedError : public Error {
 public:
  using Error::Error;
};

// Throws SystemError with the text "`what` /path: No space left on device", by the current errno.
[[noreturn]] void throw_errno(const std::string& what);

}  // namespace winnow

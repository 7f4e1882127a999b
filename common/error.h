#pragma once

#include <stdexcept>
#include <string>

namespace winnow {

// What ends a stage. Broken data is not an exception but a value with a class and a reason (see
// Expected); everything else is one of these, caught once, in main. Messages are one sentence that
// names the object (path, record id, tensor, rank) and says what to do.
class Error : public std::runtime_error {
 public:
  // Zero bytes of a forged name become '?': what() would end at the first.
  explicit Error(const std::string& message);
};

// The caller asked for something that makes no sense. Exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

// The data is refused by a gate the user set: leaks between splits, too many bad inputs. Exit
// code 3.
class RefusedError : public Error {
 public:
  using Error::Error;
};

// A file of ours is damaged, cut short, or of a newer version. Exit code 1.
class FormatError : public Error {
 public:
  using Error::Error;
};

// The operating system or a C library said no. Exit code 1.
class SystemError : public Error {
 public:
  using Error::Error;
};

// Ended early at a clean place because that was asked for (see stop.h): all that is finished is
// kept, and the same command goes on from there. Exit code 75.
class StoppedError : public Error {
 public:
  using Error::Error;
};

// "`what` /path: No space left on device", from errno as it is now.
[[noreturn]] void throw_errno(const std::string& what);

}  // namespace winnow

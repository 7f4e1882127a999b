#include "common/error.h"

#include <cerrno>
#include <cstring>

namespace winnow {

void throw_errno(const std::string& what) {
  const int code = errno;
  throw SystemError(what + ": " + std::strerror(code));
}

}  // namespace winnow

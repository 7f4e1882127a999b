#include "common/error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace winnow {
namespace {

std::string without_zeros(std::string text) {
  std::ranges::replace(text, '\0', '?');
  return text;
}

}  // namespace

Error::Error(const std::string& message) : std::runtime_error(without_zeros(message)) {}

void throw_errno(const std::string& what) {
  const int code = errno;
  throw SystemError(what + ": " + std::strerror(code));
}

}  // namespace winnow

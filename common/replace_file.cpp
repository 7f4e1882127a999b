#include "common/replace_file.h"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "common/bytes.h"
#include "common/error.h"
#include "common/file.h"

namespace winnow {

void replace_file(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::path temporary = path;
  temporary += ".tmp";
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);  // of a writer that was killed
  write_new_file(temporary, as_bytes(text));
  if (std::rename(temporary.c_str(), path.c_str()) == 0) return;
  const int why = errno;
  std::filesystem::remove(temporary, ignored);
  errno = why;
  throw_errno("cannot put " + path.string() + " in place");
}

}  // namespace winnow

#include "datasets/look.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include "common/bytes.h"
#include "common/error.h"
#include "common/file.h"
#include "common/known_bytes.h"
#include "datasets/layout.h"

namespace winnow::datasets {
namespace fs = std::filesystem;
namespace {

void check(int code, const char* what, const fs::path& path) {
  if (code != EIO && code != ESTALE) return;
  throw SystemError(std::string(what) + " " + path.string() + ": " +
                    std::generic_category().message(code));
}

std::optional<struct stat> look(const fs::path& path) {
  struct stat info {};
  const int code = try_patiently([&] { return ::stat(path.c_str(), &info) == 0 ? 0 : errno; });
  check(code, "cannot look at", path);
  if (code != 0) return std::nullopt;
  return info;
}

}  // namespace

bool file_at(const fs::path& path) {
  const auto info = look(path);
  return info && S_ISREG(info->st_mode);
}

bool folder_at(const fs::path& path) {
  const auto info = look(path);
  return info && S_ISDIR(info->st_mode);
}

bool is_folder(const fs::directory_entry& entry) {
  std::error_code error;
  const bool link = entry.is_symlink(error);
  if (error || link) return folder_at(entry.path());
  return entry.is_directory(error);
}

std::optional<std::uint64_t> size_at(const fs::path& path) {
  const auto info = look(path);
  if (!info) return std::nullopt;
  return static_cast<std::uint64_t>(info->st_size);
}

void for_each_in(const fs::path& folder,
                 const std::function<bool(const fs::directory_entry&)>& take) {
  fs::directory_iterator entry;
  std::error_code error;
  const int code = try_patiently([&] {
    entry = fs::directory_iterator(folder, error);
    return error.value();
  });
  check(code, "cannot list", folder);
  while (!error && entry != fs::directory_iterator()) {
    if (!take(*entry)) return;
    entry.increment(error);
  }
  check(error.value(), "cannot list", folder);
}

std::string first_bytes(const fs::path& path, std::size_t most) {
  std::string text(most, '\0');
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  const ssize_t got = fd ? ::pread(fd.get(), text.data(), text.size(), 0) : 0;
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

bool is_listed_image(std::string_view name, const fs::path& path) {
  constexpr std::size_t kTelling = 12;
  if (is_image_name(name)) return true;
  if (!has_no_ending(name)) return false;
  const std::string first = first_bytes(path, kTelling);
  return begins_as_image(as_bytes(first));
}

}  // namespace winnow::datasets

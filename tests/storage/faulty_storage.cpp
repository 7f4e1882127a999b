// A library to preload (LD_PRELOAD) that makes the files and folders below one folder slow and
// unreliable, like network storage. Everything else is unaffected.
//
//   FAULTY_ROOT       the folder
//   FAULTY_DELAY_US   additional time to open a regular file, and for each read of one
//   FAULTY_CALLS      faults, as CALL=ERROR/N[!] separated by commas. Every Nth path, chosen by a
//                     hash of its name below the folder, fails with EIO, ESTALE or ENOLCK: the
//                     first time only, or always with "!". Calls: open, read (regular files), list
//                     (folders), stat, lock (of a file, by flock)
//   FAULTY_COUNTS     a file to which lines "CALL calls faults" are written at the end
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace {

enum Call { kOpen, kRead, kList, kStat, kLock, kCalls };
constexpr std::array<const char*, kCalls> kNames{"open", "read", "list", "stat", "lock"};

struct Rule {
  int error = 0;
  unsigned long every = 0;  // 0: never
  bool always = false;
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

class Storage {
 public:
  static Storage& get() {
    static auto* storage = new Storage;  // used until the very end of the process
    return *storage;
  }

  bool holds(std::string_view path) const {
    return !root_.empty() && path.starts_with(root_) &&
           (path.size() == root_.size() || path[root_.size()] == '/');
  }

  // Whether the call fails; if so, errno is set. A call that succeeds is delayed if `slow`.
  bool fails(Call call, const std::string& path, bool slow) {
    if (slow && delay_us_ > 0) ::usleep(delay_us_);
    const std::lock_guard lock(mutex_);
    ++calls_[call];
    const Rule& rule = rules_[call];
    if (rule.every == 0 || hash(kNames[call] + path.substr(root_.size())) % rule.every != 0) {
      return false;
    }
    if (!failed_[call].insert(path).second && !rule.always) return false;
    ++faults_[call];
    errno = rule.error;
    return true;
  }

  void opened(int fd, std::string path) {
    const std::lock_guard lock(mutex_);
    files_[fd] = std::move(path);
  }
  void closed(int fd) {
    const std::lock_guard lock(mutex_);
    files_.erase(fd);
  }
  std::string path_of(int fd) {
    const std::lock_guard lock(mutex_);
    const auto at = files_.find(fd);
    return at == files_.end() ? "" : at->second;
  }

  void report() {
    const std::string to = variable("FAULTY_COUNTS");
    if (to.empty()) return;
    FILE* file = std::fopen(to.c_str(), "we");
    if (file == nullptr) return;
    for (int i = 0; i < kCalls; ++i) {
      std::fprintf(file, "%s %lu %lu\n", kNames[static_cast<std::size_t>(i)], calls_[i],
                   faults_[i]);
    }
    std::fclose(file);
  }

 private:
  Storage() : root_(variable("FAULTY_ROOT")) {
    delay_us_ =
        static_cast<unsigned>(std::strtoul(variable("FAULTY_DELAY_US").c_str(), nullptr, 10));
    std::string rest = variable("FAULTY_CALLS");
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(','), rest.size());
      add_rule(rest.substr(0, end));
      rest.erase(0, end + 1);
    }
  }

  void add_rule(const std::string& text) {
    const std::size_t is = text.find('=');
    const std::size_t slash = text.find('/');
    for (std::size_t i = 0; i < kCalls; ++i) {
      if (is == text.npos || slash == text.npos || text.substr(0, is) != kNames[i]) continue;
      const std::string error = text.substr(is + 1, slash - is - 1);
      rules_[i] = {error == "ESTALE"   ? ESTALE
                   : error == "ENOLCK" ? ENOLCK
                                       : EIO,
                   std::strtoul(text.c_str() + slash + 1, nullptr, 10), text.ends_with('!')};
      return;
    }
    std::fprintf(stderr, "FAULTY_CALLS: '%s' is no CALL=ERROR/N\n", text.c_str());
    std::abort();
  }

  static unsigned long hash(std::string_view text) {
    unsigned long value = 0xCBF29CE484222325;
    for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001B3;
    return value >> 40;
  }

  std::string root_;
  unsigned delay_us_ = 0;
  std::array<Rule, kCalls> rules_;
  std::mutex mutex_;
  std::array<std::set<std::string>, kCalls> failed_;
  std::array<unsigned long, kCalls> calls_{};
  std::array<unsigned long, kCalls> faults_{};
  std::map<int, std::string> files_;  // regular files below the root
};

const struct Reporter {
  ~Reporter() { Storage::get().report(); }
} reporter;

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

std::string path_behind(int fd) {
  std::array<char, PATH_MAX> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  if (::readlink(link.c_str(), path.data(), path.size() - 1) < 0) return "";
  return path.data();
}

// The path as given; a relative one is made absolute from `folder`.
std::string absolute(int folder, const char* path) {
  if (path[0] == '/') return path;
  std::array<char, PATH_MAX> here{};
  const std::string base = folder != AT_FDCWD                              ? path_behind(folder)
                           : ::getcwd(here.data(), here.size()) == nullptr ? ""
                                                                           : here.data();
  if (base.empty()) return path;
  return base + "/" + path;
}

// Opens the file at `path` with `open`.
template <class Open>
int open_at(int folder, const char* path, const Open& open) {
  static const auto real_stat = next<int (*)(const char*, struct stat*)>("stat");
  Storage& storage = Storage::get();
  const std::string whole = absolute(folder, path);
  if (!storage.holds(whole)) return open();
  struct stat info {};
  const bool there = real_stat(whole.c_str(), &info) == 0;
  const bool regular = there && S_ISREG(info.st_mode);
  if (regular && storage.fails(kOpen, whole, true)) return -1;
  if (there && S_ISDIR(info.st_mode) && storage.fails(kList, whole, false)) return -1;
  const int fd = open();
  if (fd >= 0 && regular) storage.opened(fd, whole);
  return fd;
}

// The third argument of open(), which only some flags have.
mode_t mode_of(int flags, va_list more) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(more, unsigned)) : 0;
}

template <class Read>
ssize_t read_from(int fd, const Read& read) {
  Storage& storage = Storage::get();
  const std::string path = storage.path_of(fd);
  if (!path.empty() && storage.fails(kRead, path, true)) return -1;
  return read();
}

template <class Look>
int look_at(int folder, const char* path, const Look& look) {
  Storage& storage = Storage::get();
  const std::string whole = absolute(folder, path);
  if (storage.holds(whole) && storage.fails(kStat, whole, false)) return -1;
  return look();
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  static const auto real = next<int (*)(const char*, int, ...)>("open");
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return open_at(AT_FDCWD, path, [&] { return real(path, flags, mode); });
}

int openat(int folder, const char* path, int flags, ...) {
  static const auto real = next<int (*)(int, const char*, int, ...)>("openat");
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return open_at(folder, path, [&] { return real(folder, path, flags, mode); });
}

int open64(const char* path, int flags, ...) __attribute__((alias("open")));
int openat64(int folder, const char* path, int flags, ...) __attribute__((alias("openat")));

int close(int fd) {
  static const auto real = next<int (*)(int)>("close");
  Storage::get().closed(fd);
  return real(fd);
}

DIR* opendir(const char* path) {
  static const auto real = next<DIR* (*)(const char*)>("opendir");
  Storage& storage = Storage::get();
  const std::string whole = absolute(AT_FDCWD, path);
  if (storage.holds(whole) && storage.fails(kList, whole, false)) return nullptr;
  return real(path);
}

ssize_t read(int fd, void* to, size_t bytes) {
  static const auto real = next<ssize_t (*)(int, void*, size_t)>("read");
  return read_from(fd, [&] { return real(fd, to, bytes); });
}

ssize_t pread(int fd, void* to, size_t bytes, off_t at) {
  static const auto real = next<ssize_t (*)(int, void*, size_t, off_t)>("pread");
  return read_from(fd, [&] { return real(fd, to, bytes, at); });
}

ssize_t pread64(int fd, void* to, size_t bytes, off_t at) __attribute__((alias("pread")));

int flock(int fd, int operation) {
  static const auto real = next<int (*)(int, int)>("flock");
  Storage& storage = Storage::get();
  const std::string path = path_behind(fd);
  if (storage.holds(path) && storage.fails(kLock, path, false)) return -1;
  return real(fd, operation);
}

int stat(const char* path, struct stat* info) {
  static const auto real = next<int (*)(const char*, struct stat*)>("stat");
  return look_at(AT_FDCWD, path, [&] { return real(path, info); });
}

int stat64(const char* path, struct stat64* info) {
  static const auto real = next<int (*)(const char*, struct stat64*)>("stat64");
  return look_at(AT_FDCWD, path, [&] { return real(path, info); });
}

}  // extern "C"

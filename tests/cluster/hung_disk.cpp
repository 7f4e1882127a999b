// A library to preload (LD_PRELOAD) that makes a disk hang. While a flag file exists, these calls
// below a folder wait: reads, writes, syncs, and the first access to its mapped pages. Then they
// continue as if nothing had happened. Everything else is unaffected.
//
//   HUNG_DISK_ROOT  the folder
//   HUNG_DISK_FLAG  name of the flag file; "-HOST" is appended, so that only one host's disk hangs
//
// Mapped pages are those of mmap(), up to kMostMaps at a time. A thread removes access to them
// while the disk hangs. A thread that touches such a page waits in the handler of SIGSEGV.
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace {

constexpr std::size_t kMostMaps = 256;

struct Map {
  std::atomic<char*> data = nullptr;  // null: unused
  std::atomic<std::size_t> size = 0;
  std::atomic<int> protection = 0;
};

std::array<Map, kMostMaps> maps;
std::mutex maps_mutex;                 // for writers of `maps`; the handler only reads them
std::atomic<bool> is_hanging = false;  // access to maps is removed

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string flag() {
  std::array<char, HOST_NAME_MAX + 1> host{};
  ::gethostname(host.data(), HOST_NAME_MAX);
  return variable("HUNG_DISK_FLAG") + "-" + host.data();
}

bool is_on_disk(int fd) {
  static const std::string root = variable("HUNG_DISK_ROOT") + "/";
  std::array<char, PATH_MAX> path{};
  const ssize_t size =
      ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path.data(), path.size());
  return size > 0 &&
         std::string_view(path.data(), static_cast<std::size_t>(size)).starts_with(root);
}

void pause_a_little() {
  constexpr timespec kBetweenLooks{.tv_sec = 0, .tv_nsec = 20'000'000};
  ::nanosleep(&kBetweenLooks, nullptr);
}

void wait_for_disk(int fd) {
  static const std::string hangs = flag();
  if (::access(hangs.c_str(), F_OK) != 0 || !is_on_disk(fd)) return;
  while (::access(hangs.c_str(), F_OK) == 0) pause_a_little();
}

template <typename Call>
Call* next(const char* name) {
  return reinterpret_cast<Call*>(::dlsym(RTLD_NEXT, name));
}

struct sigaction before {};

// Waits for the disk if the address lies in a map; otherwise does what the previous handler does.
void handle(int number, siginfo_t* info, void*) {
  const auto* at = static_cast<const char*>(info->si_addr);
  for (const Map& map : maps) {
    const char* data = map.data;
    if (data == nullptr || at < data || at >= data + map.size) continue;
    while (is_hanging) pause_a_little();
    return;
  }
  ::sigaction(number, &before, nullptr);  // the fault occurs again and is handled there
}

void protect_all(bool hang) {
  const std::lock_guard lock(maps_mutex);
  if (hang) is_hanging = true;
  for (const Map& map : maps) {
    char* data = map.data;
    if (data != nullptr) ::mprotect(data, map.size, hang ? PROT_NONE : map.protection.load());
  }
  if (!hang) is_hanging = false;
}

// Watches the flag until the process ends.
[[noreturn]] void watch() {
  const std::string hangs = flag();
  for (;; pause_a_little()) {
    const bool wanted = ::access(hangs.c_str(), F_OK) == 0;
    if (wanted != is_hanging) protect_all(wanted);
  }
}

// Started at the first map of the folder, because other processes need no thread.
void begin_to_watch() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    ::sigaction(SIGSEGV, &action, &before);
    sigset_t all;
    sigset_t mask;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    std::thread(watch).detach();
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  });
}

void keep(void* data, std::size_t size, int protection) {
  const std::lock_guard lock(maps_mutex);
  for (Map& map : maps) {
    if (map.data != nullptr) continue;
    map.size = size;
    map.protection = protection;
    map.data = static_cast<char*>(data);
    return;
  }
}

}  // namespace

extern "C" {

void* mmap(void* where, size_t bytes, int protection, int flags, int fd, off_t at) {
  static const auto call = next<void*(void*, size_t, int, int, int, off_t)>("mmap");
  void* data = call(where, bytes, protection, flags, fd, at);
  if (data != MAP_FAILED && fd >= 0 && is_on_disk(fd)) {
    begin_to_watch();
    keep(data, bytes, protection);
  }
  return data;
}

void* mmap64(void* where, size_t bytes, int protection, int flags, int fd, off_t at)
    __attribute__((alias("mmap")));

int munmap(void* data, size_t bytes) {
  static const auto call = next<int(void*, size_t)>("munmap");
  {
    const std::lock_guard lock(maps_mutex);
    for (Map& map : maps) {
      if (map.data == data) map.data = nullptr;
    }
  }
  return call(data, bytes);
}

ssize_t read(int fd, void* to, size_t bytes) {
  static const auto call = next<ssize_t(int, void*, size_t)>("read");
  wait_for_disk(fd);
  return call(fd, to, bytes);
}

ssize_t pread(int fd, void* to, size_t bytes, off_t at) {
  static const auto call = next<ssize_t(int, void*, size_t, off_t)>("pread");
  wait_for_disk(fd);
  return call(fd, to, bytes, at);
}

ssize_t pread64(int fd, void* to, size_t bytes, off_t at) __attribute__((alias("pread")));

ssize_t write(int fd, const void* from, size_t bytes) {
  static const auto call = next<ssize_t(int, const void*, size_t)>("write");
  wait_for_disk(fd);
  return call(fd, from, bytes);
}

int fsync(int fd) {
  static const auto call = next<int(int)>("fsync");
  wait_for_disk(fd);
  return call(fd);
}

int fdatasync(int fd) {
  static const auto call = next<int(int)>("fdatasync");
  wait_for_disk(fd);
  return call(fd);
}
}

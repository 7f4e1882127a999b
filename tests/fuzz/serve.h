#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace winnow::test {

// The end of a call.
struct Ended {
  int status = 0;  // as from wait(2)
  bool in_time = true;
  long resident_kib = 0;
};

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kAddressSanitizer = true;  // it reserves terabytes of addresses
#else
inline constexpr bool kAddressSanitizer = false;
#endif

// Limits of a call.
inline constexpr rlim_t kMostProcessorSeconds = kAddressSanitizer ? 200 : 20;
inline constexpr rlim_t kMostAddresses = kAddressSanitizer ? RLIM_INFINITY : rlim_t{6} << 30;
// Wall-clock limit, for a call that waits forever. 20 s of processor time take long on a busy
// machine.
inline constexpr std::chrono::seconds kLongest{300};

inline constexpr std::size_t kLongestCall = 1 << 16;  // bytes

// Sets the limits in the process of a call, and directs its output into `folder`.
inline void enter_call(const std::string& folder) {
  const rlimit addresses{kMostAddresses, kMostAddresses};
  const rlimit processor{kMostProcessorSeconds, kMostProcessorSeconds + 5};
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_AS, &addresses);
  ::setrlimit(RLIMIT_CPU, &processor);
  ::setrlimit(RLIMIT_CORE, &none);
  const auto put = [](const std::string& path, int flags, int at) {
    const int file = ::open(path.c_str(), flags, 0600);
    ::dup2(file, at);
    ::close(file);
  };
  put("/dev/null", O_RDONLY, 0);
  put(folder + "/stdout", O_WRONLY | O_CREAT | O_TRUNC, 1);
  put(folder + "/stderr", O_WRONLY | O_CREAT | O_TRUNC, 2);
}

inline Ended wait_for(pid_t child) {
  Ended ended;
  rusage usage{};
  const auto begin = std::chrono::steady_clock::now();
  while (::wait4(child, &ended.status, WNOHANG, &usage) == 0) {
    if (std::chrono::steady_clock::now() - begin > kLongest && ended.in_time) {
      ended.in_time = false;
      ::kill(child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (WIFSIGNALED(ended.status) && WTERMSIG(ended.status) == SIGXCPU) ended.in_time = false;
  ended.resident_kib = usage.ru_maxrss;
  return ended;
}

// Answers the packets of `socket`. Each is a folder and words, with a zero byte after each.
// A process is forked for each packet, with its output in that folder. The answer is an Ended.
// Returns    In those processes, the words; in this process, nullopt when the other end is closed.
// Threads    Call it while no other thread runs.
inline std::optional<std::vector<std::string>> serve(int socket) {
  std::vector<char> packet(kLongestCall);
  for (;;) {
    const ssize_t size = ::recv(socket, packet.data(), packet.size(), 0);
    if (size <= 0) return std::nullopt;
    std::vector<std::string> words;
    for (const char* at = packet.data(); at < packet.data() + size; at += words.back().size() + 1) {
      words.emplace_back(at);
    }
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(socket);
      enter_call(words.front());
      words.erase(words.begin());
      return words;
    }
    const Ended ended = wait_for(child);
    ::send(socket, &ended, sizeof ended, 0);
  }
}

}  // namespace winnow::test

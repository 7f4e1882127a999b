#include "common/failpoint.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <optional>
#include <string>

#include "common/error.h"
#include "common/file.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "WINNOW_FAILPOINTS";

struct Action {
  std::string_view name;
  int signal;  // 0: none
  int error;   // 0: none
};
constexpr std::array kActions{Action{"kill", SIGKILL, 0}, Action{"int", SIGINT, 0},
                              Action{"term", SIGTERM, 0}, Action{"usr1", SIGUSR1, 0},
                              Action{"hang", 0, 0},       Action{"enospc", 0, ENOSPC},
                              Action{"eio", 0, EIO}};

struct Directive {
  Action action;
  std::string point;
  fs::path file;
  std::uint64_t pass = 0;
  mutable std::atomic<std::uint64_t> passed{0};
};

[[noreturn]] void refuse(std::string_view directive) {
  throw UsageError(std::string(kVariable) + ": '" + std::string(directive) +
                   "' is not a fault; write trace=PATH, or one of kill=, term=, usr1=, hang=, "
                   "enospc= and eio= with NAME:FILE:PASS");
}

// Delivers the signal here and now, even if this thread blocks signals.
void take_signal(int number) {
  sigset_t alone;
  sigset_t before;
  sigemptyset(&alone);
  sigaddset(&alone, number);
  pthread_sigmask(SIG_UNBLOCK, &alone, &before);
  ::raise(number);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Whether `file` equals `end` or ends in it, in whole components.
bool ends_in(const fs::path& file, const fs::path& end) {
  const auto components = [](const fs::path& path) {
    return std::distance(path.begin(), path.end());
  };
  const auto more = components(file) - components(end);
  return more >= 0 && std::equal(std::next(file.begin(), more), file.end(), end.begin());
}

// "cache/", "./cache" and "cache" are the same.
fs::path plain(const fs::path& path) {
  fs::path normal = path.lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

class Failpoints {
 public:
  explicit Failpoints(std::string_view text) {
    while (!text.empty()) {
      const std::size_t comma = std::min(text.find(','), text.size());
      add(text.substr(0, comma));
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
  }

  // Returns the errno of an injected failure; 0: none.
  int pass(const std::string& point, const fs::path& file) const {
    if (trace_) write_line(point + '\t' + file.string() + '\n');
    int error = 0;
    for (const Directive& d : directives_) {
      if (d.point != point || (d.file != "*" && !ends_in(file, d.file))) continue;
      if (++d.passed != d.pass) continue;
      if (d.action.signal != 0) take_signal(d.action.signal);
      while (d.action.name == "kill" || d.action.name == "hang") ::pause();
      error = d.action.error;
    }
    return error;
  }

 private:
  void add(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == text.npos) refuse(text);
    const std::string_view value = text.substr(equals + 1);
    if (text.substr(0, equals) == "trace") {
      trace_path_ = value;
      trace_ = Fd(::open(trace_path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
      if (!trace_) throw_errno("cannot open " + trace_path_);
      return;
    }
    const auto* action = std::ranges::find(kActions, text.substr(0, equals), &Action::name);
    const std::size_t first = value.find(':');
    const std::size_t last = value.rfind(':');
    if (action == kActions.end() || first == value.npos || first == last) refuse(text);
    Directive& d = directives_.emplace_back();
    d.action = *action;
    d.point = value.substr(0, first);
    d.file = value.substr(first + 1, last - first - 1);
    const auto [end, error] =
        std::from_chars(value.data() + last + 1, value.data() + value.size(), d.pass);
    const bool good =
        error == std::errc() && end == value.data() + value.size() && d.pass > 0 &&
        !d.file.empty() &&
        (d.point.ends_with(".before") || (d.point.ends_with(".after") && d.action.error == 0));
    if (!good) refuse(text);
  }

  void write_line(const std::string& line) const {
    // A single call, so that lines of several threads and processes are not mixed.
    if (::write(trace_.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
      throw_errno("cannot write " + trace_path_);
    }
  }

  Fd trace_;
  std::string trace_path_;
  std::deque<Directive> directives_;
};

// The exception to the rule against static state: points are in the innermost functions of every
// library, and passing a configuration for tests through all interfaces would distort them. It is
// read once from the environment and constant afterwards, except for the counts.
const Failpoints& failpoints() {
  static const Failpoints all(std::getenv(kVariable));
  return all;
}

std::string name_of(std::string_view act, std::string_view phase) {
  return std::string(act).append(phase);
}

}  // namespace

namespace failpoint {

const bool enabled = std::getenv(kVariable) != nullptr;

bool pass(std::string_view act, std::string_view phase, const fs::path& file) {
  const int error = failpoints().pass(name_of(act, phase), plain(file));
  if (error != 0) errno = error;
  return error != 0;
}

void pass_peer(std::string_view act, std::string_view phase, int peer) {
  failpoints().pass(name_of(act, phase), peer < 0 ? "all" : "rank-" + std::to_string(peer));
}

}  // namespace failpoint
}  // namespace winnow

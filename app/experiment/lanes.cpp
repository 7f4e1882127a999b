#include "app/experiment/lanes.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <exception>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "common/error.h"

namespace winnow::app {
namespace {

// File descriptors of a child (posix_spawn_file_actions_t).
class SpawnActions {
 public:
  SpawnActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;

  void read_nothing() {
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  void write_to(int descriptor, const std::filesystem::path& path) {
    ::posix_spawn_file_actions_addopen(&actions_, descriptor, path.c_str(),
                                       O_WRONLY | O_CREAT | O_TRUNC, 0666);
  }
  // dup2() of a descriptor onto itself keeps it open in the child.
  void keep(int descriptor) {
    ::posix_spawn_file_actions_adddup2(&actions_, descriptor, descriptor);
  }
  const posix_spawn_file_actions_t* get() const noexcept { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// This process's environment with the given variables ("NAME=VALUE") replaced or added.
std::vector<std::string> environment_with(std::vector<std::string> variables) {
  const std::vector<std::string> given = variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view own(*variable);
    const auto names_it = [&](const std::string& other) {
      return own.starts_with(std::string_view(other).substr(0, other.find('=') + 1));
    };
    if (std::ranges::none_of(given, names_it)) variables.emplace_back(own);
  }
  return variables;
}

// Null-terminated pointers, as exec takes them.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The child blocks no signals, whatever this process does with its own.
class SpawnAttributes {
 public:
  SpawnAttributes() {
    sigset_t none;
    sigemptyset(&none);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnAttributes() { ::posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  const posix_spawnattr_t* get() const noexcept { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

pid_t start(const Child& child) {
  const SpawnAttributes attributes;
  SpawnActions actions;
  actions.read_nothing();
  actions.write_to(STDOUT_FILENO, child.out);
  actions.write_to(STDERR_FILENO, child.error);
  if (child.keeps >= 0) actions.keep(child.keeps);
  std::vector<std::string> words = child.words;
  std::vector<std::string> variables = environment_with(child.variables);
  pid_t id = 0;
  errno = ::posix_spawn(&id, words.front().c_str(), actions.get(), attributes.get(),
                        pointers_to(words).data(), pointers_to(variables).data());
  if (errno != 0) throw_errno("cannot start " + words.front());
  return id;
}

void wait_a_moment() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

}  // namespace

ChildEnd run_child(const Child& child, const StopRequested& stop) {
  const pid_t id = start(child);
  bool told = false;
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(id, &status, WNOHANG);
    if (ended == id) {
      if (WIFSIGNALED(status)) return {.exit_code = 0, .signal = WTERMSIG(status)};
      return {.exit_code = WEXITSTATUS(status), .signal = 0};
    }
    if (ended < 0 && errno != EINTR) throw_errno("cannot wait for " + child.words.front());
    if (!told && stop && stop()) {
      ::kill(id, SIGTERM);
      told = true;
    }
    wait_a_moment();
  }
}

void work_off(JobQueue& queue, std::span<const std::string> jobs, int lanes,
              const StopRequested& stop,
              const std::function<std::optional<Outcome>(const Claim&, std::size_t lane)>& do_job) {
  std::atomic<bool> ends = false;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&](std::size_t lane) {
    while (!ends && !(stop && stop())) {
      JobQueue::Next next = queue.claim_next(jobs);
      if (!next.claim && next.held == 0) return;
      if (!next.claim) {
        wait_a_moment();
        continue;
      }
      const std::optional<Outcome> outcome = do_job(*next.claim, lane);
      if (outcome) {
        queue.finish(std::move(*next.claim), *outcome);
      } else {
        ends = true;
      }
    }
  };
  const auto run_lane = [&](std::size_t lane) {
    try {
      work(lane);
    } catch (...) {
      const std::lock_guard guard(mutex);
      if (!failure) failure = std::current_exception();
      ends = true;
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 1; i < lanes; ++i) threads.emplace_back(run_lane, static_cast<std::size_t>(i));
  run_lane(0);
  threads.clear();  // joins them
  if (failure) std::rethrow_exception(failure);
  if (ends || (stop && stop())) {
    throw StoppedError("stopped; finished work is kept, and the same command resumes");
  }
}

}  // namespace winnow::app

#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace winnow::pipeline {

// A few threads that share the iterations of loops. They may block in page faults, for shards that
// are not in memory yet; workers of a task scheduler must not. There are always exactly `threads`
// of them.
class Team {
 public:
  explicit Team(int threads);  // number of threads, including the caller of run(); >= 1
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Calls work(i) for every i below `count`, on any of the threads; returns when all calls are
  // done. One run() at a time.
  // Returns  False if stop() left some calls undone.
  // Errors   After an exception no further calls begin. The exception of the lowest index is
  //          rethrown, the same for any number of threads.
  bool run(std::size_t count, const std::function<void(std::size_t)>& work);

  // Makes this run() and all later ones return as soon as the calls in progress end. Callable from
  // any thread.
  void stop() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::pipeline

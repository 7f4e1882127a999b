#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace winnow::pipeline {

// A few threads that share loops. They may block in page faults for shards that are not in memory
// yet, which workers of a task scheduler must not. Each batch gets exactly the requested number.
class Team {
 public:
  explicit Team(int threads);  // including the one that calls run(); >= 1
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Calls work(i) for every i below `count`, on any of the threads; returns when all are done. One
  // run() at a time.
  // Returns  False if stop() left some undone.
  // Errors   After an exception no further calls begin. The exception of the lowest index is
  //          rethrown, the same for any number of threads.
  bool run(std::size_t count, const std::function<void(std::size_t)>& work);

  // From any thread: makes this run() and all later ones return once the current calls end.
  void stop() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::pipeline

#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace winnow::pipeline {

// A few threads that share loops. They block in page faults when a shard is not in memory yet,
// which workers of a task scheduler must not, and each batch gets exactly as many as were asked
// for.
class Team {
 public:
  explicit Team(int threads);  // counting the one that calls run(); >= 1
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Calls work(i) for every i below `count`, from any of the threads, and returns when all is done.
  // When calls throw, no more are begun, and the exception of the lowest index is rethrown: the
  // same one however many threads there are. False when stop() left some undone. One run() at a
  // time.
  bool run(std::size_t count, const std::function<void(std::size_t)>& work);

  // From any thread: makes this run() and all later ones return as soon as the calls under way end.
  void stop() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::pipeline

#pragma once

#include <memory>

namespace winnow::pipeline {

// While it lives, TBB uses at most this many threads of the process, including the calling one; 0:
// no limit. If several live, the smallest applies.
class WorkerLimit {
 public:
  explicit WorkerLimit(int threads);
  ~WorkerLimit();
  WorkerLimit(const WorkerLimit&) = delete;
  WorkerLimit& operator=(const WorkerLimit&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;  // null: no limit
};

}  // namespace winnow::pipeline

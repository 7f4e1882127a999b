#pragma once

#include <memory>

namespace winnow::pipeline {

// Limits TBB to this many threads of the process, including the calling one, while the object
// lives; 0: no limit. If several such objects live, the smallest limit applies.
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

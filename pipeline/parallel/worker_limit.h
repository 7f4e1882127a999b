#pragma once

#include <memory>

namespace winnow::pipeline {

// As long as it lives, TBB runs at most so many threads of this process, the calling one counted;
// 0: as many as it has. Where several live, the smallest holds.
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

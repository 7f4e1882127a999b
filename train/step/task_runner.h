#pragma once

#include <functional>
#include <memory>

#include "train/plan/step_plan.h"

namespace winnow::train {

// Executes a plan again and again: a thread for each lane, the caller's being lane 0. A task of any
// lane goes to whichever thread is free first, before that thread goes on with its own lane.
class TaskRunner {
 public:
  explicit TaskRunner(StepPlan plan);
  ~TaskRunner();
  TaskRunner(const TaskRunner&) = delete;
  TaskRunner& operator=(const TaskRunner&) = delete;

  const StepPlan& plan() const noexcept;

  // Calls execute(task) once for every task, each after all it names. Rethrows the first exception,
  // after the calls under way have ended; no others are begun then.
  void run(const std::function<void(const Task&)>& execute);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::train

#pragma once

#include <functional>
#include <memory>

#include "train/plan/step_tasks.h"

namespace winnow::train {

// Executes the tasks of a step again and again.
// Threads   One for each lane, the caller's being lane 0, and tasks.threads - tasks.lanes more. All
//           sleep while they have nothing to do.
// Order     A task that any thread may do goes to whichever is free first, before that thread goes
//           on with its own lane; of several, the first in the list.
class TaskRunner {
 public:
  explicit TaskRunner(StepTasks tasks);
  ~TaskRunner();
  TaskRunner(const TaskRunner&) = delete;
  TaskRunner& operator=(const TaskRunner&) = delete;

  const StepTasks& tasks() const noexcept;

  // Calls execute(task) once for every task, each after all it names.
  // Throws  the first exception of a call, after the calls under way have ended; no others begin.
  void run(const std::function<void(const Task&)>& execute);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::train

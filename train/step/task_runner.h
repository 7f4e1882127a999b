#pragma once

#include <functional>
#include <memory>

#include "train/plan/step_tasks.h"

namespace winnow::train {

// Executes the tasks of a step repeatedly.
// Threads  One for each lane, where the caller's is lane 0, and tasks.threads - tasks.lanes more.
//          Idle threads sleep.
// Order    A task for any thread goes to the first free one, before that thread continues with its
//          own lane; if there are several, the first in the list.
class TaskRunner {
 public:
  explicit TaskRunner(StepTasks tasks);
  ~TaskRunner();
  TaskRunner(const TaskRunner&) = delete;
  TaskRunner& operator=(const TaskRunner&) = delete;

  const StepTasks& tasks() const noexcept;

  // Calls execute(task) once for every task, after all tasks it depends on.
  // Throws the first exception of a call, after running calls have ended; no others start.
  void run(const std::function<void(const Task&)>& execute);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::train

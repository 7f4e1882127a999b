#pragma once

#include <functional>
#include <memory>

#include "train/plan/step_tasks.h"

namespace winnow::train {

// Executes the tasks of a step, again in every step.
// Threads  One for each lane (program replica), where the caller's thread is lane 0, and
//          tasks.threads - tasks.lanes helper threads. Idle threads sleep.
// Order    A task that any thread may run goes to the first free thread, which runs it before it
//          continues with its own lane. Of several such tasks, the first in the list is run.
class TaskRunner {
 public:
  explicit TaskRunner(StepTasks tasks);
  ~TaskRunner();
  TaskRunner(const TaskRunner&) = delete;
  TaskRunner& operator=(const TaskRunner&) = delete;

  const StepTasks& tasks() const noexcept;

  // Calls execute(task) once for every task, after all tasks on which it depends.
  // Throws  The first exception of a call, after the calls in progress have ended; no others are
  //         started.
  void run(const std::function<void(const Task&)>& execute);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::train

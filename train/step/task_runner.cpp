#include "train/step/task_runner.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "common/thread_name.h"

namespace winnow::train {

// `mutex` guards everything except `step` and `followers`.
struct TaskRunner::State {
  struct Worker {
    std::condition_variable wake{};
    std::set<std::size_t> ready{};  // tasks that only this worker may do
    bool idle = false;              // it is waiting and has not been woken
    std::thread thread{};           // none: the caller's thread
  };

  explicit State(StepTasks given)
      : step(std::move(given)),
        followers(step.tasks.size()),
        workers(static_cast<std::size_t>(step.threads)) {
    for (std::size_t t = 0; t < step.tasks.size(); ++t) {
      for (const int before : step.tasks[t].after) {
        followers[static_cast<std::size_t>(before)].push_back(t);
      }
    }
    for (std::size_t w = 1; w < workers.size(); ++w) {
      workers[w].thread = std::thread([this, w] { serve(workers[w]); });
    }
  }

  ~State() {
    {
      const std::lock_guard lock(mutex);
      ending = true;
      wake_all();
    }
    for (Worker& worker : workers) {
      if (worker.thread.joinable()) worker.thread.join();
    }
  }

  static void wake(Worker& worker) {
    worker.idle = false;
    worker.wake.notify_one();
  }

  void wake_all() {
    for (Worker& worker : workers) wake(worker);
  }

  void make_ready(std::size_t t) {
    const Task& task = step.tasks[t];
    if (!task.anywhere) {
      Worker& owner = workers[static_cast<std::size_t>(task.lane)];
      owner.ready.insert(t);
      wake(owner);
      return;
    }
    ready_anywhere.insert(t);
    for (Worker& worker : workers) {
      if (worker.idle) return wake(worker);
    }
  }

  void begin(const std::function<void(const Task&)>& what) {
    execute = &what;
    left = step.tasks.size();
    waiting.assign(step.tasks.size(), 0);
    for (std::size_t t = 0; t < step.tasks.size(); ++t) {
      waiting[t] = step.tasks[t].after.size();
      if (waiting[t] == 0) make_ready(t);
    }
  }

  std::optional<std::size_t> take(Worker& worker) {
    auto& from = ready_anywhere.empty() ? worker.ready : ready_anywhere;
    if (failure || from.empty()) return std::nullopt;
    return from.extract(from.begin()).value();
  }

  // Does one task, or waits for one.
  void work(Worker& worker, std::unique_lock<std::mutex>& lock) {
    const std::optional<std::size_t> t = take(worker);
    if (!t) {
      worker.idle = true;
      worker.wake.wait(lock);
      worker.idle = false;
      return;
    }
    ++running;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      (*execute)(step.tasks[*t]);
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    --running;
    --left;
    if (thrown && !failure) failure = thrown;
    for (const std::size_t f : followers[*t]) {
      if (--waiting[f] == 0) make_ready(f);
    }
    if (finished()) wake(workers[0]);
  }

  bool finished() const { return left == 0 || (failure && running == 0); }

  void serve(Worker& worker) {
    name_thread("compute");
    std::unique_lock lock(mutex);
    while (!ending) work(worker, lock);
  }

  void run(const std::function<void(const Task&)>& what) {
    std::unique_lock lock(mutex);
    begin(what);
    while (!finished()) work(workers[0], lock);
    ready_anywhere.clear();
    for (Worker& worker : workers) worker.ready.clear();
    if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
  }

  const StepTasks step;
  std::vector<std::vector<std::size_t>> followers;  // for each task

  std::mutex mutex;
  const std::function<void(const Task&)>* execute = nullptr;
  std::vector<std::size_t> waiting;  // for each task, the number of tasks it still waits for
  std::set<std::size_t> ready_anywhere;
  std::size_t left = 0;
  std::size_t running = 0;
  std::exception_ptr failure;
  bool ending = false;
  std::deque<Worker> workers;  // last: its threads use all of the above
};

TaskRunner::TaskRunner(StepTasks tasks) : state_(std::make_unique<State>(std::move(tasks))) {}
TaskRunner::~TaskRunner() = default;

const StepTasks& TaskRunner::tasks() const noexcept { return state_->step; }

void TaskRunner::run(const std::function<void(const Task&)>& execute) { state_->run(execute); }

}  // namespace winnow::train

#include "train/step/task_runner.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace winnow::train {

struct TaskRunner::State {
  explicit State(StepPlan given)
      : plan(std::move(given)),
        followers(plan.tasks.size()),
        ready(static_cast<std::size_t>(plan.lanes)) {
    for (std::size_t t = 0; t < plan.tasks.size(); ++t) {
      for (const int before : plan.tasks[t].after) {
        followers[static_cast<std::size_t>(before)].push_back(t);
      }
    }
    for (int lane = 1; lane < plan.lanes; ++lane) {
      threads.emplace_back([this, lane] { serve(lane); });
    }
  }

  ~State() {
    {
      const std::lock_guard lock(mutex);
      ending = true;
      changed.notify_all();
    }
    for (std::thread& thread : threads) thread.join();
  }

  // The three below: with the mutex held.

  void make_ready(std::size_t t) {
    const int lane = plan.tasks[t].lane;
    (lane == kAnyLane ? ready_anywhere : ready[static_cast<std::size_t>(lane)]).insert(t);
  }

  void begin(const std::function<void(const Task&)>& what) {
    execute = &what;
    left = plan.tasks.size();
    failure = nullptr;
    waiting.assign(plan.tasks.size(), 0);
    for (std::size_t t = 0; t < plan.tasks.size(); ++t) {
      waiting[t] = plan.tasks[t].after.size();
      if (waiting[t] == 0) make_ready(t);
    }
  }

  // The first in the plan's order, those of any lane before the lane's own; none: npos.
  std::size_t take(int lane) {
    auto& own = ready[static_cast<std::size_t>(lane)];
    auto& from = ready_anywhere.empty() ? own : ready_anywhere;
    if (failure || from.empty()) return kNone;
    return from.extract(from.begin()).value();
  }

  bool finished() const { return ending || left == 0 || (failure && running == 0); }

  // Works until the plan is done.
  void work(int lane, std::unique_lock<std::mutex>& lock) {
    while (!finished()) {
      const std::size_t t = take(lane);
      if (t == kNone) {
        changed.wait(lock);
        continue;
      }
      ++running;
      lock.unlock();
      std::exception_ptr thrown;
      try {
        (*execute)(plan.tasks[t]);
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      --running;
      if (thrown && !failure) failure = thrown;
      --left;
      for (const std::size_t f : followers[t]) {
        if (--waiting[f] == 0) make_ready(f);
      }
      changed.notify_all();
    }
  }

  void serve(int lane) {
    std::unique_lock lock(mutex);
    for (std::size_t seen = 0;;) {
      changed.wait(lock, [&] { return ending || rounds != seen; });
      if (ending) return;
      seen = rounds;
      work(lane, lock);
    }
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  const StepPlan plan;
  std::vector<std::vector<std::size_t>> followers;  // of each task

  std::mutex mutex;
  std::condition_variable changed;
  const std::function<void(const Task&)>* execute = nullptr;
  std::vector<std::size_t> waiting;  // tasks each one still waits for
  std::vector<std::set<std::size_t>> ready;
  std::set<std::size_t> ready_anywhere;
  std::size_t left = 0;
  std::size_t running = 0;
  std::size_t rounds = 0;
  std::exception_ptr failure;
  bool ending = false;
  std::vector<std::thread> threads;  // last: they use all of the above
};

TaskRunner::TaskRunner(StepPlan plan) : state_(std::make_unique<State>(std::move(plan))) {}
TaskRunner::~TaskRunner() = default;

const StepPlan& TaskRunner::plan() const noexcept { return state_->plan; }

void TaskRunner::run(const std::function<void(const Task&)>& execute) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  s.begin(execute);
  ++s.rounds;
  s.changed.notify_all();
  s.work(0, lock);
  s.ready_anywhere.clear();
  for (auto& lane : s.ready) lane.clear();
  if (s.failure) std::rethrow_exception(std::exchange(s.failure, nullptr));
}

}  // namespace winnow::train

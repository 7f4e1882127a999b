#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <utility>

#include "common/error.h"
#include "common/progress.h"
#include "common/stop.h"

namespace winnow::python {

// Connects work on another thread with Python. An exception of the progress callback, or Ctrl-C,
// stops the work and is raised instead of its result.
class Listener {
 public:
  explicit Listener(nanobind::object callback) : callback_(std::move(callback)) {}

  StopRequested stop() {
    return [this] { return stopped_.load(std::memory_order_relaxed); };
  }
  ProgressSink sink() {
    return [this](const Progress& progress) { tell(progress); };
  }

  // Does the work on another thread and returns its result. The caller must hold the GIL (the
  // interpreter's lock), which is released meanwhile.
  template <class Work>
  auto wait_for(const Work& work) {
    auto done = std::async(std::launch::async, work);
    constexpr std::chrono::milliseconds kLook{50};
    while (true) {
      {
        const nanobind::gil_scoped_release others_go_on;
        if (done.wait_for(kLook) == std::future_status::ready) break;
      }
      if (PyErr_CheckSignals() != 0) end(std::make_exception_ptr(nanobind::python_error()));
    }
    try {
      auto result = done.get();
      if (raised_) std::rethrow_exception(raised_);
      return result;
    } catch (const StoppedError&) {
      if (raised_) std::rethrow_exception(raised_);
      throw;
    }
  }

 private:
  void tell(const Progress& progress) {
    if (stopped_ || callback_.is_none()) return;
    const nanobind::gil_scoped_acquire lock;
    try {
      callback_(progress.done, progress.total);
    } catch (...) {
      end(std::current_exception());
    }
  }
  void end(std::exception_ptr why) {
    if (!stopped_.exchange(true)) raised_ = std::move(why);
  }

  nanobind::object callback_;
  std::exception_ptr raised_;  // only written with the GIL held
  std::atomic<bool> stopped_ = false;
};

}  // namespace winnow::python

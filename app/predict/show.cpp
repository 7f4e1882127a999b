#include "app/predict/show.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "common/error.h"

namespace winnow::app {
namespace {

class Showing {
 public:
  Showing(Pictures& pictures, const Net& net, Lanes& lanes, int workers, const StopRequested& stop)
      : pictures_(pictures), lanes_(lanes), workers_(std::max(1, workers)), stop_(stop) {
    const pipeline::Geometry geometry = net.geometry();
    pixels_ = net.micro_batch() * static_cast<std::size_t>(geometry.height_px) *
              static_cast<std::size_t>(geometry.width_px) *
              static_cast<std::size_t>(geometry.channels);
    for (int lane = 0; lane < lanes.count(); ++lane) free_.push_back(lane);
  }

  void run() {
    std::vector<std::thread> threads;
    for (int worker = 1; worker < workers_; ++worker) {
      threads.emplace_back([this] { work(); });
    }
    work();
    for (std::thread& thread : threads) thread.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  struct Work {
    std::uint64_t number = 0;
    Pictures::MicroBatch batch;
  };
  struct Done {
    Pictures::MicroBatch batch;
    Outputs outputs;
  };

  void work() noexcept {
    try {
      std::vector<std::uint8_t> pixels(pixels_);
      while (std::optional<Work> work = take_work()) {
        work->batch.fill(pixels);
        Outputs outputs = compute(pixels);
        work->batch.fill = nullptr;
        give(work->number, {std::move(work->batch), std::move(outputs)});
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      changed_.notify_all();
    }
  }

  // Waits while this worker is far ahead of the results taken. Another worker is computing what is
  // missing.
  std::optional<Work> take_work() {
    const std::lock_guard turn(turn_);
    std::unique_lock lock(mutex_);
    const std::uint64_t most = 4 * static_cast<std::uint64_t>(workers_);
    changed_.wait(lock, [&] { return failure_ || next_ - taken_ < most; });
    if (failure_) return std::nullopt;
    lock.unlock();
    if (stop_ && stop_()) throw StoppedError(kStopped);
    std::optional<Pictures::MicroBatch> batch = pictures_.next();
    if (!batch) return std::nullopt;
    lock.lock();
    return Work{next_++, *std::move(batch)};
  }

  // Reserves a lane while in scope.
  class Held {
   public:
    explicit Held(Showing& of) : of_(of) {
      std::unique_lock lock(of.mutex_);
      of.changed_.wait(lock, [&] { return !of.free_.empty(); });
      lane_ = of.free_.back();
      of.free_.pop_back();
    }
    ~Held() {
      const std::lock_guard lock(of_.mutex_);
      of_.free_.push_back(lane_);
      of_.changed_.notify_all();
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    int lane() const noexcept { return lane_; }

   private:
    Showing& of_;
    int lane_ = 0;
  };

  Outputs compute(std::span<std::uint8_t> pixels) {
    const Held held(*this);
    return lanes_.compute(held.lane(), pixels);
  }

  void give(std::uint64_t number, Done done) {
    const std::lock_guard taking(taking_);
    waiting_.emplace(number, std::move(done));
    while (!waiting_.empty() && waiting_.begin()->first == taken_) {
      const Done first = std::move(waiting_.extract(waiting_.begin()).mapped());
      pictures_.take(first.batch, first.outputs);
      const std::lock_guard lock(mutex_);
      ++taken_;
      changed_.notify_all();
    }
  }

  Pictures& pictures_;
  Lanes& lanes_;
  const int workers_;
  const StopRequested& stop_;
  std::size_t pixels_ = 0;
  std::mutex turn_;    // held while asking for the next micro-batch
  std::mutex taking_;  // guards waiting_; taken_ changes under it
  std::map<std::uint64_t, Done> waiting_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::uint64_t next_ = 0;
  std::uint64_t taken_ = 0;
  std::vector<int> free_;
  std::exception_ptr failure_;
};

}  // namespace

void show_all(Pictures& pictures, const Net& net, Lanes& lanes, int workers,
              const StopRequested& stop) {
  Showing(pictures, net, lanes, workers, stop).run();
}

}  // namespace winnow::app

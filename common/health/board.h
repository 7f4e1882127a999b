#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

#include "common/health/status.h"

namespace winnow::health {

// Records what the threads of a rank are doing. Another thread (Monitor) reads it and reports it to
// the other ranks.
//
// Threads  mark() from any thread; begin_step() and end_step() from one. All are atomic stores;
//          none waits.
// Time     From the given clock, which any of these threads may call: the system's, except in
//          tests.
class Board {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Board(std::function<Clock::time_point()> now = &Clock::now) : now_(std::move(now)) {}

  void mark(Stage stage, std::size_t bucket = 0) noexcept;

  // Begins training step `step`, counted from 1: the rank waits for its batch. end_step() ends it.
  // batch_wait_s  Total seconds of waiting for batches so far.
  void begin_step(std::int64_t step) noexcept;
  void end_step(double batch_wait_s) noexcept;

  // Count the collectives, and the exchanges of data (all-to-alls), that this rank has started.
  void begin_collective() noexcept { collectives_.fetch_add(1, kRelaxed); }
  void begin_exchange() noexcept { exchanges_.fetch_add(1, kRelaxed); }
  class Waiting;

  // Records the step of the newest checkpoint that is on disk; the run can resume from it.
  void set_saved(std::int64_t step) noexcept { saved_.store(step, kRelaxed); }
  std::int64_t saved() const noexcept { return saved_.load(kRelaxed); }

  // Returns everything recorded. Not an atomic snapshot: threads continue meanwhile.
  Status read() const noexcept;

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;

  // Times and counts of the current step. Only used by the thread that calls begin_step().
  struct Step {
    Clock::time_point begin{};
    std::int64_t waited_ns = 0;
    std::int64_t exchange_ns = 0;
    double batch_wait_s = 0;
    int done = 0;  // finished steps
  };

  const std::function<Clock::time_point()> now_;
  std::atomic<std::uint32_t> place_ = 0;  // bucket << 8 | stage
  std::atomic<std::uint32_t> marks_ = 0;
  std::atomic<std::int64_t> step_ = 0;
  std::atomic<bool> is_first_ = false;
  std::atomic<Wait> wait_ = Wait::kNone;
  std::atomic<bool> awaits_data_ = false;
  std::atomic<std::uint64_t> collectives_ = 0;
  std::atomic<std::uint64_t> exchanges_ = 0;
  std::atomic<std::int64_t> waited_ns_ = 0;    // waiting for collectives
  std::atomic<std::int64_t> exchange_ns_ = 0;  // waiting for data
  std::atomic<std::int64_t> saved_ = 0;
  std::atomic<float> step_s_ = 0;
  std::atomic<float> work_s_ = 0;
  std::atomic<float> batch_s_ = 0;
  std::atomic<float> exchange_s_ = 0;
  Step under_way_;
  // Ring buffer of the durations of the last finished steps. The first (warm-up) step is excluded.
  std::array<StepSeconds, 3> recent_{};
};

// While an object of this class lives, the board says that the rank waits for a collective or for
// data from others.
class Board::Waiting {
 public:
  Waiting(Board& board, Wait wait) noexcept;  // kNone: for data
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  Board& board_;
  const Wait wait_;
  const Clock::time_point begin_;
};

}  // namespace winnow::health

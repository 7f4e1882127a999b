#pragma once

#include <cstddef>

#include "common/health/board.h"
#include "train/plan/step_tasks.h"

namespace winnow::train {

// Marks the progress of a step on a health board (common/health/board.h), from which other ranks
// learn it. Only the tasks of lane 0 are marked, because other lanes (program replicas) do the same
// work at the same time.
// Threads  As TaskRunner calls: tasks of lane 0 one after the other.
class StepMarks {
 public:
  // Sets the board, which must outlive this object; nullptr, the default: no marks.
  void set_board(health::Board* board) noexcept { board_ = board; }

  void begin(const Task& task) noexcept;

 private:
  health::Board* board_ = nullptr;
  std::size_t next_bucket_ = 0;  // index among the gradient buckets that lane 0 computes
};

}  // namespace winnow::train

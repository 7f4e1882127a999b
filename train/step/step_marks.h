#pragma once

#include <cstddef>

#include "common/health/board.h"
#include "train/plan/step_tasks.h"

namespace winnow::train {

// Marks on a board how far a step is, by what lane 0 does: other lanes do the same beside it.
// Threads  as TaskRunner calls: tasks of lane 0 one after the other
class StepMarks {
 public:
  // `board` outlives this; null: nowhere, as at first.
  void set_board(health::Board* board) noexcept { board_ = board; }

  void begin(const Task& task) noexcept;

 private:
  health::Board* board_ = nullptr;
  std::size_t next_bucket_ = 0;  // of gradients that lane 0 computes
};

}  // namespace winnow::train

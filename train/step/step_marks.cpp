#include "train/step/step_marks.h"

namespace winnow::train {

void StepMarks::begin(const Task& task) noexcept {
  if (board_ == nullptr) return;
  if (task.kind == Task::Kind::kFinish) return board_->mark(health::Stage::kGradients);
  if (task.kind == Task::Kind::kBeginUpdate) return board_->mark(health::Stage::kUpdating);
  if (task.lane != 0) return;
  if (task.kind == Task::Kind::kReceive) {
    return board_->mark(health::Stage::kReceiving, static_cast<std::size_t>(task.micro_batch));
  }
  if (task.kind == Task::Kind::kBind) {
    next_bucket_ = 0;
  } else if (task.kind == Task::Kind::kCompute) {
    board_->mark(task.first_node == 0 ? health::Stage::kForward : health::Stage::kBackward,
                 next_bucket_);
  } else if (task.kind == Task::Kind::kAwait) {
    board_->mark(health::Stage::kBackward, static_cast<std::size_t>(task.bucket));
    next_bucket_ = static_cast<std::size_t>(task.bucket) + 1;
  }
}

}  // namespace winnow::train

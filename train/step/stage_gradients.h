#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "train/graph/graph.h"
#include "train/plan/step_tasks.h"
#include "train/reduce/gradient_layout.h"
#include "train/reduce/gradient_sum.h"
#include "train/step/loss_scale.h"

namespace winnow::train {

// The gradients of a net by stage (part of the net with a loss of its own, train/graph/stages.h),
// and their loss scales: one for all stages, or one for each. A net with a single loss is one
// stage.
class StageGradients {
 public:
  // The loss scale is 1 by default. Both arguments must outlive this object.
  StageGradients(const Graph& graph, const GradientLayout& layout);

  void set_scales(std::vector<LossScale> scales) { scales_ = std::move(scales); }
  const std::vector<LossScale>& scales() const noexcept { return scales_; }
  std::vector<double> factors() const;
  double factor_of(std::size_t tensor) const { return scales_[scale_of(tensor)].factor; }

  // Divides the numbers that a kAdd task adds by their loss scales. Only gradients are scaled;
  // statistics are not.
  void unscale(std::span<float> written, const Task& task) const;

  // Lowers the loss scales of the stages whose sums are not finite, if all losses are finite.
  // Returns false if that is impossible, or if there is nothing to lower. The same on all ranks,
  // because all have the same sums.
  bool lower(const GradientSum& sum);
  void count_clean_step();

  // Returns the gradient tensors of each stage, in layout order. The same on all ranks.
  std::vector<std::vector<std::span<float>>> of(GradientSum& sum) const;

 private:
  std::size_t scale_of(std::size_t tensor) const;

  const Graph& graph_;
  const GradientLayout& layout_;
  const std::vector<int> stages_;  // for each tensor of the gradient layout, its stage
  std::vector<LossScale> scales_{LossScale{}};
};

}  // namespace winnow::train

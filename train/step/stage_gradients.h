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

// The gradients of a net by its stages (train/graph/stages.h), and the loss scales that they are
// computed with: one for all, or each stage its own. A net that learns as a whole is one stage.
class StageGradients {
 public:
  // None is scaled at first. Both outlive this.
  StageGradients(const Graph& graph, const GradientLayout& layout);

  void set_scales(std::vector<LossScale> scales) { scales_ = std::move(scales); }
  const std::vector<LossScale>& scales() const noexcept { return scales_; }
  std::vector<double> factors() const;
  double factor_of(std::size_t tensor) const { return scales_[scale_of(tensor)].factor; }

  // Divides what a kAdd is about by its factors. Gradients alone are of the scaled loss, statistics
  // are not.
  void unscale(std::span<float> written, const Task& task) const;

  // After sums that are not finite: lowers the scales of the stages that have such, where all
  // losses are finite. False: that cannot be, or nothing was to be lowered. The same on all ranks,
  // as all have the same sums.
  bool lower(const GradientSum& sum);
  void count_clean_step();

  // Of each stage a tensor each, in the order of the layout. All ranks have the same.
  std::vector<std::vector<std::span<float>>> of(GradientSum& sum) const;

 private:
  std::size_t scale_of(std::size_t tensor) const;

  const Graph& graph_;
  const GradientLayout& layout_;
  const std::vector<int> stages_;  // of each tensor of the layout
  std::vector<LossScale> scales_{LossScale{}};
};

}  // namespace winnow::train

#include "train/plan/step_seconds.h"

#include <algorithm>
#include <vector>

namespace winnow::train {

StepSeconds& StepSeconds::operator+=(const StepSeconds& other) noexcept {
  forward += other.forward;
  backward += other.backward;
  sums += other.sums;
  update += other.update;
  data += other.data;
  ranks += other.ranks;
  idle += other.idle;
  return *this;
}

StepSeconds StepSeconds::operator*(double factor) const noexcept {
  return {forward * factor, backward * factor, sums * factor, update * factor,
          data * factor,    ranks * factor,    idle * factor};
}

StepSeconds median_step(std::span<const StepSeconds> steps) {
  std::vector<StepSeconds> sorted(steps.begin(), steps.end());
  std::ranges::sort(sorted, {}, &StepSeconds::total);
  return sorted[(sorted.size() - 1) / 2];
}

StepSeconds scaled_step(const StepSeconds& seconds, const StepForm& measured,
                        const StepForm& wanted) noexcept {
  const double rounds =
      static_cast<double>(wanted.rounds()) / static_cast<double>(measured.rounds());
  const double samples =
      rounds * static_cast<double>(wanted.micro_batch) / static_cast<double>(measured.micro_batch);
  StepSeconds step = seconds;
  step.forward *= samples;
  step.backward *= samples;
  step.idle *= samples;
  step.sums *= rounds;
  return step;
}

}  // namespace winnow::train

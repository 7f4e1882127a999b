#include "train/step/lane.h"

#include <utility>

namespace winnow::train {

StepLane::StepLane(Program& program_of_lane)
    : program(program_of_lane),
      feed(program),
      loss(bind_output(program, OutputKind::kLoss)),
      per_sample(bind_output(program, OutputKind::kPerSampleLoss)),
      logits(bind_output(program, OutputKind::kLogits)),
      local_losses(bind_outputs(program, OutputKind::kLocalLoss)) {
  std::vector<std::vector<float>> per_samples =
      bind_outputs(program, OutputKind::kLocalPerSampleLoss);
  std::vector<std::vector<float>> all_logits = bind_outputs(program, OutputKind::kLocalLogits);
  for (std::size_t i = 0; i < per_samples.size(); ++i) {
    heads.push_back({.per_sample = std::move(per_samples[i]), .logits = std::move(all_logits[i])});
  }
}

void wait_for_programs(std::vector<StepLane>& lanes) noexcept {
  for (StepLane& lane : lanes) {
    try {
      lane.program.wait(lane.given);
    } catch (...) {  // nothing runs there any more; the first failure is told
    }
  }
}

}  // namespace winnow::train

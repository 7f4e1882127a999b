#include "train/step/lane.h"

namespace winnow::train {

StepLane::StepLane(Program& program_of_lane)
    : program(program_of_lane),
      feed(program),
      loss(bind_output(program, OutputKind::kLoss)),
      per_sample(bind_output(program, OutputKind::kPerSampleLoss)),
      logits(bind_output(program, OutputKind::kLogits)) {}

void wait_for_programs(std::vector<StepLane>& lanes) noexcept {
  for (StepLane& lane : lanes) {
    try {
      lane.program.wait(lane.given);
    } catch (...) {  // nothing runs there any more; the first failure is told
    }
  }
}

}  // namespace winnow::train

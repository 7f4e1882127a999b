#include "train/optim/multistep.h"

#include <cmath>

namespace winnow::train {

double multistep_rate(const SchedulePoint& at, const ChosenOptions& chosen) {
  double rate = at.base;
  for (const double epoch : chosen.values("milestones")) {
    if (at.step >= std::llround(epoch * at.steps_per_epoch)) rate *= chosen.number("gamma");
  }
  return rate;
}

}  // namespace winnow::train

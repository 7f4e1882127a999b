#include "train/optim/averaging.h"

#include <cmath>

namespace winnow::train {

void update_average(const Averaging& how, std::int64_t step, std::span<float> value,
                    std::span<float> average) {
  if (average.empty()) return;
  const Averaging::Factors factors = how.factors(step);
  if (!factors.due) return;
  for (std::size_t i = 0; i < value.size(); ++i) Averaging::update(factors, value[i], average[i]);
}

Averaging ema_of(const OptionValues& given) {
  const ChosenOptions chosen(kAveragingOptions, given);
  const double decay = chosen.number("ema_decay");
  if (decay == 0) return {};
  return {.every = std::llround(chosen.number("ema_steps")), .decay = decay, .grows = true};
}

Averaging lookahead_of(const OptionValues& given, std::int64_t steps) {
  const ChosenOptions chosen(kAveragingOptions, given);
  const double alpha = chosen.number("lookahead_alpha");
  return {.every = std::llround(chosen.number("lookahead_steps")),
          .decay = 1 - alpha,
          .power = std::llround(chosen.number("lookahead_power")),
          .steps = steps,
          .takes_back = true};
}

}  // namespace winnow::train

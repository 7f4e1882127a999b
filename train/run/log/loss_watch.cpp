#include "train/run/log/loss_watch.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace winnow::train {
namespace {

constexpr double kFactor = 1e4;

std::string short_number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2g", value);
  return text.data();
}

}  // namespace

LossWatch::LossWatch(double guessing)
    : guessing_(std::max(1.0, guessing)), threshold_(kFactor * guessing_) {}

std::optional<std::string> LossWatch::warning(std::int64_t step, double loss) {
  if (!(loss > threshold_)) return std::nullopt;
  while (loss > threshold_) threshold_ *= kFactor;
  return "the loss of step " + std::to_string(step) + " is " + short_number(loss) + ", " +
         short_number(loss / guessing_) +
         " times the loss of guessing: training may diverge; use a lower learning rate or a longer "
         "warm-up";
}

}  // namespace winnow::train

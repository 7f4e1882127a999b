#include "train/optim/options.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "common/error.h"

namespace winnow::train {
namespace {

std::string short_text(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

}  // namespace

bool Range::contains(double value) const noexcept {
  return std::isfinite(value) && (above_least ? value > least : value >= least) &&
         (below_most ? value < most : value <= most);
}

std::string Range::text() const {
  const std::string low = (above_least ? "above " : "at least ") + short_text(least);
  if (most == kMostNumber) return low;
  return low + " and " + (below_most ? "below " : "at most ") + short_text(most);
}

std::string flag_of(const Option& option) {
  std::string flag = "--" + std::string(option.key);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

ChosenOptions::ChosenOptions(std::span<const Option> options, const OptionValues& given) {
  for (const Option& option : options) {
    const auto found = given.find(option.key);
    std::vector<double>& values = values_[std::string(option.key)];
    if (found != given.end()) {
      values = found->second;
    } else if (option.kind != OptionKind::kNumbers) {
      values = {option.initial};
    }
  }
}

const std::vector<double>& ChosenOptions::values(std::string_view key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) throw Error("there is no option " + std::string(key));
  return found->second;
}

void check_ranges(std::span<const Option> options, const OptionValues& given) {
  for (const Option& option : options) {
    const auto found = given.find(option.key);
    if (found == given.end()) continue;
    for (const double value : found->second) {
      if (option.range.contains(value)) continue;
      throw UsageError(flag_of(option) + " must be " + option.range.text() + ", it is " +
                       short_text(value));
    }
  }
}

}  // namespace winnow::train

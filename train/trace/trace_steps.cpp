#include "train/trace/trace_steps.h"

#include <charconv>
#include <optional>

#include "common/error.h"

namespace winnow::train {
namespace {

// Parses an integer from 1 to 10^15.
std::optional<std::int64_t> number(std::string_view text) {
  constexpr std::int64_t kMost = 1'000'000'000'000'000;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= 1 && value <= kMost ? std::optional(value) : std::nullopt;
}

}  // namespace

TraceSteps parse_trace_steps(std::string_view text) {
  const std::string name = "--trace-steps " + std::string(text);
  TraceSteps steps;
  if (text.starts_with('+')) {
    steps.count = number(text.substr(1)).value_or(0);
  } else {
    const std::size_t dash = text.find('-');
    steps.first = number(text.substr(0, dash)).value_or(0);
    const bool one = dash == std::string_view::npos;
    steps.last = one ? steps.first : number(text.substr(dash + 1)).value_or(0);
  }
  const std::int64_t count = steps.count > 0 ? steps.count : steps.last - steps.first + 1;
  if ((steps.count == 0 && steps.first == 0) || count < 1) {
    throw UsageError(name +
                     " names no steps; give first and last, such as 20-25, or +6 for six steps " +
                     "after the warm-up");
  }
  if (count > kMostTracedSteps) {
    throw UsageError(name + " is larger than the " + std::to_string(kMostTracedSteps) +
                     " steps that a trace holds; ask for fewer");
  }
  return steps;
}

TraceSteps steps_from(const TraceSteps& steps, std::int64_t done) {
  if (steps.first > 0) return steps;
  const std::int64_t first = done + kWarmUpSteps + 1;
  return {.first = first, .last = first + steps.count - 1};
}

std::string in_words(const TraceSteps& steps) {
  if (steps.first == steps.last) return "step " + std::to_string(steps.first);
  return "steps " + std::to_string(steps.first) + " to " + std::to_string(steps.last);
}

}  // namespace winnow::train

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace winnow::train {

// The range of steps of a run that are traced. Steps count from 1, from the first step of the run.
struct TraceSteps {
  std::int64_t first = 0;  // first traced step; 0: the first after the warm-up of the current start
  std::int64_t last = 0;
  std::int64_t count = 0;  // number of traced steps, used if `first` is 0

  friend bool operator==(const TraceSteps&, const TraceSteps&) = default;
};

// Largest number of traced steps: a trace takes about 10 KB for each step and rank.
inline constexpr std::int64_t kMostTracedSteps = 1000;
// Untraced steps after each start, until memory, caches and network are warm.
inline constexpr std::int64_t kWarmUpSteps = 10;

// Parses "20-25", "20" for a single step, or "+6" for six steps after the warm-up. Throws
// UsageError.
TraceSteps parse_trace_steps(std::string_view text);

// Returns the steps to trace if a run starts or resumes after `done` steps. Pure.
TraceSteps steps_from(const TraceSteps& steps, std::int64_t done);

std::string in_words(const TraceSteps& steps);  // text such as "steps 20 to 25"

}  // namespace winnow::train

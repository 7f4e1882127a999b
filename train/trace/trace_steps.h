#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace winnow::train {

// Which steps of a run are traced. Steps count from 1, from the first step of the run.
struct TraceSteps {
  std::int64_t first = 0;  // 0: after the warm-up of the current start of the run
  std::int64_t last = 0;
  std::int64_t count = 0;  // if first is 0

  friend bool operator==(const TraceSteps&, const TraceSteps&) = default;
};

// a trace takes about 10 KB for each step and rank
inline constexpr std::int64_t kMostTracedSteps = 1000;
inline constexpr std::int64_t kWarmUpSteps = 10;  // after each start: memory, caches, the network

// Parses "20-25", "20" for a single step, or "+6" for six steps after the warm-up. Throws
// UsageError.
TraceSteps parse_trace_steps(std::string_view text);

// The traced steps of a run that starts or resumes after `done` steps. Pure.
TraceSteps steps_from(const TraceSteps& steps, std::int64_t done);

std::string in_words(const TraceSteps& steps);  // "steps 20 to 25"

}  // namespace winnow::train

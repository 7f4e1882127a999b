#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace winnow::train {

// Which steps of a run are traced. Steps count from 1, from the run's first on.
struct TraceSteps {
  std::int64_t first = 0;  // 0: behind the warm-up of this start of the run
  std::int64_t last = 0;
  std::int64_t count = 0;  // where first is 0

  friend bool operator==(const TraceSteps&, const TraceSteps&) = default;
};

inline constexpr std::int64_t kMostTracedSteps = 1000;  // a trace takes some 10 KB a step and rank
inline constexpr std::int64_t kWarmUpSteps = 10;        // of a start: memory, caches, the network

// "20-25", "20" for one step alone, or "+6" for six steps behind the warm-up. Throws UsageError.
TraceSteps parse_trace_steps(std::string_view text);

// Those of a start of the run that goes on after `done` steps. Pure.
TraceSteps steps_from(const TraceSteps& steps, std::int64_t done);

std::string in_words(const TraceSteps& steps);  // "steps 20 to 25"

}  // namespace winnow::train

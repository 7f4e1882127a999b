#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/step/trace_recorder.h"
#include "train/trace/clock_offset.h"

namespace winnow::train {

// Traces in the JSON of Chrome's trace viewer ("Trace Event Format"), which Perfetto opens. They
// consist of complete events (ph X), with ts and dur in microseconds; the three decimals are
// nanoseconds.

// A rank, and how to convert its times to rank 0's clock.
struct TracedRank {
  int rank = 0;
  std::string host{};
  ClockLine clock{};
  std::int64_t zero_ns = 0;  // time of rank 0's clock at which ts is 0
};

// The events of one rank, as parts of a JSON list without its brackets. Pure.
// Process  rank + 1, because viewers take 0 for the system's process.
// Rows     Steps, data wait, one for each thread, update. Overlapping collectives get rows of their
//          own, as few as possible.
std::string trace_events(const TraceRecord& record, const TracedRank& rank);

// Metadata of a trace.
struct TraceAbout {
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  std::vector<std::int64_t> clock_errors_ns{};  // for each rank, relative to rank 0
};

// The content of the file. `events` has one entry for each rank. Pure.
std::string trace_json(const std::vector<std::string>& events, const TraceAbout& about);

}  // namespace winnow::train

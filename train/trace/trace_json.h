#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/step/trace_recorder.h"
#include "train/trace/clock_offset.h"

namespace winnow::train {

// Writes traces as JSON of Chrome's trace viewer ("Trace Event Format"), which Perfetto opens. They
// consist of complete events (ph X). ts and dur are in microseconds, with three decimals for
// nanoseconds.

// A traced rank, and how to convert its times to rank 0's clock.
struct TracedRank {
  int rank = 0;
  std::string host{};
  ClockLine clock{};
  std::int64_t zero_ns = 0;  // time of rank 0's clock, in ns, that becomes ts = 0 in the trace
};

// Returns the events of one rank, as parts of a JSON list without its brackets. Pure.
// Process  Number rank + 1, because viewers take 0 for the system's process.
// Rows     Steps, data wait, one for each thread, update. Overlapping collectives get rows of their
//          own, as few as possible.
std::string trace_events(const TraceRecord& record, const TracedRank& rank);

// Metadata of a trace.
struct TraceAbout {
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  // For each rank, the largest error of its clock offset from rank 0.
  std::vector<std::int64_t> clock_errors_ns{};
};

// Returns the content of the trace file. `events`: one entry for each rank, from trace_events().
// Pure.
std::string trace_json(const std::vector<std::string>& events, const TraceAbout& about);

}  // namespace winnow::train

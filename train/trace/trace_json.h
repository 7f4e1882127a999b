#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/step/trace_recorder.h"
#include "train/trace/clock_offset.h"

namespace winnow::train {

// A trace in the JSON of Chrome's trace viewer, which Perfetto opens: "Trace Event Format",
// complete events (ph X), with ts and dur in microseconds, three decimals being nanoseconds.

// What is the rank's, and how its times become rank 0's.
struct TracedRank {
  int rank = 0;
  std::string host{};
  ClockLine clock{};
  std::int64_t zero_ns = 0;  // of rank 0's clock: where ts is 0
};

// The events of one rank, as parts of a list without its brackets. Process rank + 1, as viewers
// take 0 for the system's. Rows: steps, data wait, a thread each, update; collectives that overlap
// lie in rows of their own, as few as there may be. Pure.
std::string trace_events(const TraceRecord& record, const TracedRank& rank);

// What a trace says of itself.
struct TraceAbout {
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  std::vector<std::int64_t> clock_errors_ns{};  // of each rank, against rank 0
};

// The file. `events`: those of each rank. Pure.
std::string trace_json(const std::vector<std::string>& events, const TraceAbout& about);

}  // namespace winnow::train

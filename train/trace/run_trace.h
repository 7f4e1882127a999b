#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "common/comm/communicator.h"
#include "train/step/trace_recorder.h"
#include "train/trace/clock_offset.h"
#include "train/trace/trace_steps.h"
#include "train/trace/traced_communicator.h"

namespace winnow::train {

// Traces some steps of a run on all ranks: when they come the ranks compare their clocks, when they
// are over they do so again, and rank 0 gathers what all wrote down into a file (trace_json.h).
// Collective in all but recorder() and communicator(): every rank is asked the same.
class RunTrace {
 public:
  // `comm` outlives this.
  RunTrace(comm::Communicator& comm, const TraceSteps& steps)
      : comm_(comm), asked_(steps), traced_(comm, recorder_) {}

  // What the run communicates by, and what its steps write to.
  comm::Communicator& communicator() noexcept { return traced_; }
  TraceRecorder& recorder() noexcept { return recorder_; }

  // A run begins, or goes on after `done` steps. `note` takes sentences for people; it outlives the
  // run.
  void begin(const std::filesystem::path& file, std::int64_t done,
             std::function<void(std::string)> note);

  // Step `step` waits for its batch from now on. Behind the last traced one the file is written.
  // Throws SystemError where it cannot be.
  void begin_step(std::int64_t step);
  void batch_is_here();

  // No further step comes: writes what there is, or says that there was nothing to trace.
  void finish();

 private:
  void write();

  comm::Communicator& comm_;
  const TraceSteps asked_;
  TraceRecorder recorder_;
  TracedCommunicator traced_;
  std::filesystem::path file_;
  std::function<void(std::string)> note_;
  TraceSteps steps_;        // of the run
  std::int64_t first_ = 0;  // that was traced; 0: none
  std::int64_t last_ = 0;
  std::int64_t wait_begin_ns_ = 0;
  std::optional<Clocks> clocks_;  // when the first of them began
  bool is_written_ = false;
};

}  // namespace winnow::train

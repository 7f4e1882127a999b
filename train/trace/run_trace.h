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

// Traces some steps of a run on all ranks. Clocks are compared before and after these steps. Then
// rank 0 gathers the records of all ranks and writes a file (trace_json.h).
// Collective  All ranks make the same calls, except recorder() and communicator().
class RunTrace {
 public:
  // `comm` must outlive this object.
  RunTrace(comm::Communicator& comm, const TraceSteps& steps)
      : comm_(comm), asked_(steps), traced_(comm, recorder_) {}

  // The communicator and the recorder that the traced run must use.
  comm::Communicator& communicator() noexcept { return traced_; }
  TraceRecorder& recorder() noexcept { return recorder_; }

  // Starts a run, or resumes it after `done` steps. The trace goes to `file`.
  // note  Sink for user-facing messages; must outlive the run.
  void begin(const std::filesystem::path& file, std::int64_t done,
             std::function<void(std::string)> note);

  // Whether begin_step(step) waits for all ranks. Steps up to the one before must have begun.
  bool meets_before(std::int64_t step) const noexcept;

  // Call it when step `step` starts to wait for its batch. After the last traced step, writes the
  // file.
  // Throws  SystemError if writing fails.
  void begin_step(std::int64_t step);
  void batch_is_here();

  // Call it after the last step of the run. Writes what was traced, or reports that there was
  // nothing to trace.
  void finish();

 private:
  bool is_traced(std::int64_t step) const noexcept {
    return step >= steps_.first && step <= steps_.last;
  }
  bool writes_before(std::int64_t step) const noexcept {
    return step > steps_.last && first_ > 0 && !is_written_;
  }
  void write();

  comm::Communicator& comm_;
  const TraceSteps asked_;
  TraceRecorder recorder_;
  TracedCommunicator traced_;
  std::filesystem::path file_;
  std::function<void(std::string)> note_;
  TraceSteps steps_;        // steps that this start of the run traces
  std::int64_t first_ = 0;  // first step that was traced; 0: none yet
  std::int64_t last_ = 0;
  std::int64_t wait_begin_ns_ = 0;
  std::optional<Clocks> clocks_;  // the ranks' clocks at the start of the first traced step
  bool is_written_ = false;
};

}  // namespace winnow::train

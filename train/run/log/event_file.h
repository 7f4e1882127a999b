#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "common/bytes.h"
#include "common/file.h"
#include "train/run/log/metrics.h"

namespace winnow::train {

// Writes the numbers of metrics.jsonl to a TensorBoard event file: TFRecords of tensorflow.Event,
// one scalar for each number.
// Tags    The names in metrics.jsonl with a slash for the dot: "train/loss".
// Times   wall_time is that of a run without interruptions: the start time of this process plus the
//         seconds of training since then.
// Source  tensorflow/core/util/event.proto, framework/summary.proto.
class EventFile {
 public:
  // Creates an event file in `folder` with the run's earlier lines `rows`. Removes the event files
  // of earlier starts, so that no step occurs twice. A running TensorBoard moves on to the new
  // file.
  // wall_before  Seconds of training before this start.
  // Throws       SystemError.
  EventFile(const std::filesystem::path& folder, const std::vector<MetricsRow>& rows,
            double wall_before);

  void write(const MetricsRow& row);
  void sync();  // makes everything written so far durable (fsync)

 private:
  // Serialised TFRecord of a row; empty if the row has no numbers.
  Bytes event_of(const MetricsRow& row) const;

  double began_;  // Unix time at which training would have begun if the run had never stopped
  std::optional<AppendFile> out_;
};

}  // namespace winnow::train

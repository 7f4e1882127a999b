#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "common/bytes.h"
#include "common/file.h"
#include "train/run/log/metrics.h"

namespace winnow::train {

// Numbers of metrics.jsonl for TensorBoard: TFRecords of tensorflow.Event, a scalar a number, its
// tag the name with a slash for the dot ("train/loss"). `wall_time` goes on from where the run
// began in this start of it.
// Source: tensorflow/core/util/event.proto, framework/summary.proto.
class EventFile {
 public:
  // Makes a file in `folder` with what the run has done, `rows`, and removes those of starts
  // before: no step is there twice. A TensorBoard that shows the old one goes on with the new one.
  // `wall_before`: seconds that the run had trained. Throws SystemError.
  EventFile(const std::filesystem::path& folder, const std::vector<MetricsRow>& rows,
            double wall_before);

  void write(const MetricsRow& row);
  void sync();  // durable when this returns

 private:
  Bytes event_of(const MetricsRow& row) const;  // a record; empty: no number is in the row

  double began_;  // Unix time at which a run that never stopped would have begun
  std::optional<AppendFile> out_;
};

}  // namespace winnow::train

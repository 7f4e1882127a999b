#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "common/bytes.h"
#include "common/file.h"
#include "train/run/log/metrics.h"

namespace winnow::train {

// The numbers of metrics.jsonl for TensorBoard: TFRecords of tensorflow.Event, one scalar for each
// number. Its tag is the name with a slash instead of the dot ("train/loss"). `wall_time` is that
// of a run that never stopped, counted back from the current start.
// Source  tensorflow/core/util/event.proto, framework/summary.proto.
class EventFile {
 public:
  // Creates a file in `folder` with the run's history `rows`, and removes those of earlier starts,
  // so that no step occurs twice. A TensorBoard that shows the old file continues with the new one.
  // wall_before  Seconds that the run had trained before.
  // Throws       SystemError.
  EventFile(const std::filesystem::path& folder, const std::vector<MetricsRow>& rows,
            double wall_before);

  void write(const MetricsRow& row);
  void sync();  // durable when this returns

 private:
  Bytes event_of(const MetricsRow& row) const;  // as a record; empty if the row has no numbers

  double began_;  // Unix time at which the run would have begun if it had never stopped
  std::optional<AppendFile> out_;
};

}  // namespace winnow::train

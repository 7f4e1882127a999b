#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "common/comm/communicator.h"
#include "common/newest_file.h"
#include "pipeline/load/shuffle_quality.h"
#include "train/plan/batch_layout.h"
#include "train/run/log/event_file.h"
#include "train/run/log/logged_line.h"
#include "train/run/log/metrics.h"
#include "train/run/log/rank_metrics.h"
#include "train/run/log/throughput.h"

namespace winnow::train {

// Writes the lines of metrics.jsonl, with the time since the first step.
// Collective  Rank 0 writes. The other ranks learn whether that succeeded.
class RunLog {
 public:
  RunLog(comm::Communicator& comm, const BatchLayout& batches) : comm_(comm), batches_(batches) {}

  // Where lines are written, and what all lines have in common.
  struct Place {
    std::filesystem::path metrics;
    // Folder for a TensorBoard event file with the same numbers; empty: none.
    std::filesystem::path events;
    std::filesystem::path ranks;  // ranks.json
    std::string run_id;           // identifies the run; part of every line
    LineSink sink;                // callback that also receives each line; may be empty
  };
  // Opens the log for appending. Removes lines of steps that a resumed run computes again, see
  // MetricsLog. `wall` (seconds of training) continues from the last line.
  void open(const Place& place, std::int64_t first_step, bool evaluates_again);

  Throughput& throughput() noexcept { return throughput_; }
  const Throughput& throughput() const noexcept { return throughput_; }

  void write(std::int64_t step, const std::map<std::string, double>& values,
             const std::map<std::string, std::string>& texts = {});
  // Writes the line that ends a logging interval: `values`, and a summary of the ranks' figures.
  // Also updates ranks.json in the background, and once more at the end.
  void write_interval(std::int64_t step, std::map<std::string, double> values,
                      const RankTable& ranks);
  // Writes the quality of a partial shuffle. Call it on rank 0 only; not collective.
  void write_shuffle(const pipeline::ShuffleQuality& quality);
  // Writes the digest of a global batch. `digest`: that of this rank's part of the batch.
  void write_digest(std::int64_t step, std::uint64_t digest);

  // Makes everything written durable. Rank 0 only; not collective. Another thread may write
  // meanwhile.
  void sync();

 private:
  void write_line(std::int64_t step, const std::map<std::string, double>& values,
                  std::map<std::string, std::string> texts = {}, const RankTable* ranks = nullptr);

  comm::Communicator& comm_;
  BatchLayout batches_;
  std::optional<MetricsLog> lines_;  // writer of metrics.jsonl; on rank 0 only
  std::optional<EventFile> events_;  // writer of the event file; on rank 0 only, if requested
  std::optional<NewestFile> ranks_;  // writer of ranks.json; on rank 0 only
  Place place_;
  Throughput throughput_;
};

}  // namespace winnow::train

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

// Writes the lines of metrics.jsonl, with the time since the first step. Collective: rank 0 writes,
// and the others learn whether that succeeded.
class RunLog {
 public:
  RunLog(comm::Communicator& comm, const BatchLayout& batches) : comm_(comm), batches_(batches) {}

  // Destinations, and what all lines have in common.
  struct Place {
    std::filesystem::path metrics;
    std::filesystem::path events;  // folder of an EventFile with the same content; empty: none
    std::filesystem::path ranks;   // ranks.json
    std::string run_id;            // is part of every line
    LineSink sink;                 // also receives each line; may be empty
  };
  // Appends to an existing log, without what the run repeats, see MetricsLog. `wall` continues from
  // the last line.
  void open(const Place& place, std::int64_t first_step, bool evaluates_again);

  Throughput& throughput() noexcept { return throughput_; }
  const Throughput& throughput() const noexcept { return throughput_; }

  void write(std::int64_t step, const std::map<std::string, double>& values,
             const std::map<std::string, std::string>& texts = {});
  // Writes the line of an interval: `values`, and a summary of the ranks. The figures of each rank
  // go to ranks.json, which is written soon, and at the end.
  void write_interval(std::int64_t step, std::map<std::string, double> values,
                      const RankTable& ranks);
  void write_shuffle(const pipeline::ShuffleQuality& quality);  // rank 0 only; not collective
  // `digest`: of this rank's part of the step's batch.
  void write_digest(std::int64_t step, std::uint64_t digest);

  // Makes everything written durable. Rank 0 only; not collective. Another thread may write
  // meanwhile.
  void sync();

 private:
  void write_line(std::int64_t step, const std::map<std::string, double>& values,
                  std::map<std::string, std::string> texts = {}, const RankTable* ranks = nullptr);

  comm::Communicator& comm_;
  BatchLayout batches_;
  std::optional<MetricsLog> lines_;  // on rank 0
  std::optional<EventFile> events_;  // on rank 0, if requested
  std::optional<NewestFile> ranks_;  // on rank 0: ranks.json
  Place place_;
  Throughput throughput_;
};

}  // namespace winnow::train

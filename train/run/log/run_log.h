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

// The lines of metrics.jsonl, with the time since the first step. Collective: rank 0 writes, the
// others learn that it could.
class RunLog {
 public:
  RunLog(comm::Communicator& comm, const BatchLayout& batches) : comm_(comm), batches_(batches) {}

  // Where the lines go, and what they have in common.
  struct Place {
    std::filesystem::path metrics;
    std::filesystem::path events;  // the folder of an EventFile with the same; empty: none
    std::filesystem::path ranks;   // ranks.json
    std::string run_id;            // every line names it
    LineSink sink;                 // takes each line, too; may be empty
  };
  // Goes on behind what is there, without what the run does again, see MetricsLog. `wall` goes on
  // from the last line's.
  void open(const Place& place, std::int64_t first_step, bool evaluates_again);

  Throughput& throughput() noexcept { return throughput_; }
  const Throughput& throughput() const noexcept { return throughput_; }

  void write(std::int64_t step, const std::map<std::string, double>& values,
             const std::map<std::string, std::string>& texts = {});
  // The line of an interval: `values`, what the ranks did in short, and in ranks.json each; that
  // is written soon, and when this ends.
  void write_interval(std::int64_t step, std::map<std::string, double> values,
                      const RankTable& ranks);
  void write_shuffle(const pipeline::ShuffleQuality& quality);  // rank 0 alone; not collective
  // `digest`: of this rank's part of the step's batch.
  void write_digest(std::int64_t step, std::uint64_t digest);

  // Makes all that was written durable. Rank 0 alone; not collective. Another thread may write
  // meanwhile.
  void sync();

 private:
  void write_line(std::int64_t step, const std::map<std::string, double>& values,
                  std::map<std::string, std::string> texts = {}, const RankTable* ranks = nullptr);

  comm::Communicator& comm_;
  BatchLayout batches_;
  std::optional<MetricsLog> lines_;  // rank 0
  std::optional<EventFile> events_;  // rank 0, where it is wanted
  std::optional<NewestFile> ranks_;  // rank 0: ranks.json
  Place place_;
  Throughput throughput_;
};

}  // namespace winnow::train

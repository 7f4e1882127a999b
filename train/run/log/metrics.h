#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/file.h"

namespace winnow::train {

// One line of metrics.jsonl.
struct MetricsRow {
  std::int64_t step = 0;  // number of steps done
  double epoch = 0;
  double wall = 0;  // seconds of training so far
  // Numeric values by name, such as "train.loss"; texts are left out.
  std::map<std::string, double> values{};
};

// Whether a value of this name comes from an evaluation, such as "val.top1" or "test_ema.loss".
bool is_of_evaluation(std::string_view name);

// Reads the lines of a metrics.jsonl, in order. Skips lines that were cut off by a full disk or a
// killed run. Throws SystemError.
std::vector<MetricsRow> read_metrics(const std::filesystem::path& path);

// Removes values whose magnitude exceeds 1e100: no run has them, and their sums could overflow.
// Returns false if `epoch` exceeds 1e100 or `wall` exceeds 1e15 seconds.
bool make_sound(MetricsRow& row);

// Follows a metrics.jsonl that a run is writing, and returns its complete lines only. Not
// thread-safe.
class MetricsTail {
 public:
  explicit MetricsTail(std::filesystem::path path) : path_(std::move(path)) {}

  struct News {
    bool anew = false;  // rows returned earlier are void, because the run resumed from a checkpoint
    std::vector<MetricsRow> rows{};  // complete lines since the last call
  };
  // Returns the lines that were written since the last call. A missing file counts as empty. Throws
  // SystemError.
  News read();

 private:
  std::filesystem::path path_;
  ino_t file_ = 0;  // inode that was read last, because a resumed run replaces the file
  std::uint64_t read_bytes_ = 0;
};

// Writes metrics.jsonl: one JSON object a line. Each has `step`, `epoch` and `wall` (seconds of
// training so far), and values with names that DLLogger and MLPerf use: train.loss, train.lr,
// train.total_ips, val.top1 ...
class MetricsLog {
 public:
  // Opens the file for appending. First removes the lines of steps after `step`, because a resumed
  // run computes these steps again.
  // evaluates_again  Also removes the evaluations of `step` itself.
  // Throws           SystemError.
  MetricsLog(const std::filesystem::path& path, std::int64_t step, bool evaluates_again = false);

  // Seconds of training (`wall`) in the last line that was kept; 0 if the file has none.
  double wall_before() const noexcept { return wall_before_; }

  void write(const MetricsRow& row, const std::map<std::string, std::string>& texts = {});

  // Makes all written lines durable. Call it before each checkpoint: a run that resumes from it
  // does not write these lines again.
  void sync();

 private:
  std::optional<AppendFile> out_;
  double wall_before_ = 0;
};

}  // namespace winnow::train

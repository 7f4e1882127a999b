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
  // by name, such as "train.loss"; without texts and values that are not numbers
  std::map<std::string, double> values{};
};

// Whether a value comes from an evaluation: "val.top1", "test_ema.loss".
bool is_of_evaluation(std::string_view name);

// The lines of a file, in order. Lines that were cut off by a full disk or a killed run are
// skipped. Throws SystemError.
std::vector<MetricsRow> read_metrics(const std::filesystem::path& path);

// Removes numbers above 1e100 in size, which no run has and whose sums could overflow. Returns
// false if the row's epoch or wall is out of bounds.
bool make_sound(MetricsRow& row);

// Follows the lines of a file that a run is writing; intact lines only. One thread at a time.
class MetricsTail {
 public:
  explicit MetricsTail(std::filesystem::path path) : path_(std::move(path)) {}

  struct News {
    bool anew = false;               // all earlier rows are void: the run resumed from a checkpoint
    std::vector<MetricsRow> rows{};  // complete lines since the last call
  };
  // Reads only what is new. A missing file has no lines. Throws SystemError.
  News read();

 private:
  std::filesystem::path path_;
  ino_t file_ = 0;  // a resumed run replaces the file
  std::uint64_t read_bytes_ = 0;
};

// Writes metrics.jsonl: one JSON object a line, with `step`, `epoch`, `wall` (seconds of training
// so far) and names known from DLLogger and MLPerf: train.loss, train.lr, train.total_ips, val.top1
// ...
class MetricsLog {
 public:
  // Appends to an existing file, after removing the lines of steps after `step`, which a resumed
  // run repeats. With `evaluates_again`, also removes the evaluations of `step`. Throws
  // SystemError.
  MetricsLog(const std::filesystem::path& path, std::int64_t step, bool evaluates_again = false);

  // `wall` of the last line that was kept; 0 if there is none.
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

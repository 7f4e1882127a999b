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
  std::int64_t step = 0;  // steps done
  double epoch = 0;
  double wall = 0;                         // seconds that the run has trained
  std::map<std::string, double> values{};  // "train.loss"; texts and numbers that are none left out
};

// Whether a value is of an evaluation: "val.top1", "test_ema.loss".
bool is_of_evaluation(std::string_view name);

// The lines of a file, in its order. What a full disk or a killed run cut short is passed over.
// Throws SystemError.
std::vector<MetricsRow> read_metrics(const std::filesystem::path& path);

// Leaves out numbers over 1e100 in size, which no run has and whose sums would be none. False: the
// row's place is such a number.
bool make_sound(MetricsRow& row);

// The lines of a file that a run is writing, sound ones only. Not for several threads at once.
class MetricsTail {
 public:
  explicit MetricsTail(std::filesystem::path path) : path_(std::move(path)) {}

  struct News {
    bool anew = false;               // all rows before are void: the run went on from a checkpoint
    std::vector<MetricsRow> rows{};  // whole lines since the last call
  };
  // Reads what is new alone. A file that is not there has no lines. Throws SystemError.
  News read();

 private:
  std::filesystem::path path_;
  ino_t file_ = 0;  // a run that goes on puts another in place
  std::uint64_t read_bytes_ = 0;
};

// metrics.jsonl: one JSON object a line, with `step`, `epoch`, `wall` (seconds that the run has
// trained) and names that people know of DLLogger and MLPerf: train.loss, train.lr,
// train.total_ips, val.top1 ...
class MetricsLog {
 public:
  // Goes on behind what is there, without the lines of steps after `step`: a resumed run does those
  // again. Nor are the evaluations of `step` kept where it `evaluates_again`. Throws SystemError.
  MetricsLog(const std::filesystem::path& path, std::int64_t step, bool evaluates_again = false);

  // `wall` of the last line that was kept; 0: none.
  double wall_before() const noexcept { return wall_before_; }

  void write(const MetricsRow& row, const std::map<std::string, std::string>& texts = {});

  // Makes all lines written durable. Before each checkpoint: a run that goes on from it does not
  // write them again.
  void sync();

 private:
  std::optional<AppendFile> out_;
  double wall_before_ = 0;
};

}  // namespace winnow::train

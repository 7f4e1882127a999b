#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "common/file.h"

namespace winnow::train {

// metrics.jsonl: one JSON object a line, with `step`, `epoch`, `wall` (seconds that the run has
// trained) and names that people know of DLLogger and MLPerf: train.loss, train.lr,
// train.total_ips, val.top1 ...
class MetricsLog {
 public:
  // Goes on behind what is there, without the lines of steps after `step`: a resumed run does those
  // again. Throws SystemError.
  MetricsLog(const std::filesystem::path& path, std::int64_t step);

  // `wall` of the last line that was kept; 0: none.
  double wall_before() const noexcept { return wall_before_; }

  void write(std::int64_t step, double epoch, double wall,
             const std::map<std::string, double>& values,
             const std::map<std::string, std::string>& texts = {});

  // Makes all lines written durable. Before each checkpoint: a run that goes on from it does not
  // write them again.
  void sync();

 private:
  std::optional<AppendFile> out_;
  double wall_before_ = 0;
};

}  // namespace winnow::train

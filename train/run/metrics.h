#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "common/file.h"

namespace winnow::train {

// metrics.jsonl: one JSON object a line, with `step`, `epoch`, `wall` (seconds since the run began)
// and the names of DLLogger and MLPerf people know: train.loss, train.lr, train.total_ips, val.top1
// ...
class MetricsLog {
 public:
  // Goes on behind what is there, without the lines of steps after `step` (a resumed run does those
  // again). Throws SystemError.
  MetricsLog(const std::filesystem::path& path, std::int64_t step);

  void write(std::int64_t step, double epoch, double wall,
             const std::map<std::string, double>& values,
             const std::map<std::string, std::string>& texts = {});

  // Makes all lines written durable. Before each checkpoint: a run that goes on from it does not
  // write them again.
  void sync();

 private:
  std::optional<AppendFile> out_;
};

}  // namespace winnow::train

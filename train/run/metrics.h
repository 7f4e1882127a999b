#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

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
             const std::map<std::string, double>& values);

 private:
  std::filesystem::path path_;
  std::ofstream out_;
};

}  // namespace winnow::train

#include "train/run/metrics.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "common/file.h"

namespace winnow::train {

MetricsLog::MetricsLog(const std::filesystem::path& path, std::int64_t step) {
  if (std::filesystem::exists(path)) {
    std::istringstream lines(read_text(path));
    std::string kept;
    for (std::string line; std::getline(lines, line);) {
      const auto row = nlohmann::json::parse(line, nullptr, false);
      if (row.is_object() && row.value("step", std::int64_t{0}) <= step) kept += line + "\n";
    }
    write_file_durably(path, kept);
  }
  out_.emplace(path);
}

void MetricsLog::write(std::int64_t step, double epoch, double wall,
                       const std::map<std::string, double>& values) {
  nlohmann::ordered_json row{{"step", step}, {"epoch", epoch}, {"wall", wall}};
  for (const auto& [name, value] : values) row[name] = value;
  out_->append(row.dump() + '\n');
}

void MetricsLog::sync() { out_->sync(); }

}  // namespace winnow::train

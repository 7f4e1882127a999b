#include "train/run/metrics.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/file.h"

namespace winnow::train {
namespace {

// A line that a full disk or a killed run cut short is no object any more.
bool is_whole(const nlohmann::json& row) {
  return row.is_object() && row.contains("step") && row["step"].is_number_integer();
}

double wall_of(const nlohmann::json& row) {
  const auto wall = row.find("wall");
  return wall != row.end() && wall->is_number() ? std::max(0.0, wall->get<double>()) : 0;
}

}  // namespace

MetricsLog::MetricsLog(const std::filesystem::path& path, std::int64_t step) {
  if (std::filesystem::exists(path)) {
    std::istringstream lines(read_text(path));
    std::string kept;
    for (std::string line; std::getline(lines, line);) {
      const auto row = nlohmann::json::parse(line, nullptr, false);
      if (!is_whole(row) || row["step"] > step) continue;
      kept += line + "\n";
      wall_before_ = wall_of(row);
    }
    write_file_durably(path, kept);
  }
  out_.emplace(path);
}

void MetricsLog::write(std::int64_t step, double epoch, double wall,
                       const std::map<std::string, double>& values,
                       const std::map<std::string, std::string>& texts) {
  nlohmann::ordered_json row{{"step", step}, {"epoch", epoch}, {"wall", wall}};
  for (const auto& [name, value] : values) row[name] = value;
  for (const auto& [name, text] : texts) row[name] = text;
  out_->append(row.dump() + '\n');
}

void MetricsLog::sync() { out_->sync(); }

}  // namespace winnow::train

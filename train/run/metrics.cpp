#include "train/run/metrics.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "common/error.h"
#include "common/file.h"
#include "common/json_reader.h"

namespace winnow::train {
namespace {

struct Row {
  std::int64_t step = 0;
  double wall = 0;
};

// Nothing of a line that a full disk or a killed run cut short.
std::optional<Row> parse_row(const std::string& line) {
  using Limits = std::numeric_limits<std::int64_t>;
  try {
    const JsonReader in(line, {"a line of metrics"});
    const auto wall = in.find("wall");
    return Row{in.at("step").integer(Limits::min(), Limits::max()),
               wall ? std::max(0.0, wall->real()) : 0};
  } catch (const FormatError&) {
    return std::nullopt;
  }
}

}  // namespace

MetricsLog::MetricsLog(const std::filesystem::path& path, std::int64_t step) {
  if (std::filesystem::exists(path)) {
    std::istringstream lines(read_text(path));
    std::string kept;
    for (std::string line; std::getline(lines, line);) {
      const std::optional<Row> row = parse_row(line);
      if (!row || row->step > step) continue;
      kept += line + "\n";
      wall_before_ = row->wall;
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

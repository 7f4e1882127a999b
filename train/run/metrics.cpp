#include "train/run/metrics.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/error.h"
#include "common/json_reader.h"

namespace winnow::train {
namespace {

// Nothing of a line that a full disk or a killed run cut short.
std::optional<MetricsRow> parse_row(const std::string& line) {
  using Limits = std::numeric_limits<std::int64_t>;
  try {
    const JsonReader in(line, {"a line of metrics"});
    MetricsRow row{.step = in.at("step").integer(Limits::min(), Limits::max())};
    if (const auto epoch = in.find("epoch")) row.epoch = epoch->real();
    if (const auto wall = in.find("wall")) row.wall = std::max(0.0, wall->real());
    for (const auto& [name, value] : in.members()) {
      const bool is_place = name == "step" || name == "epoch" || name == "wall";
      if (!is_place && value.json().is_number()) row.values[name] = value.real();
    }
    return row;
  } catch (const FormatError&) {
    return std::nullopt;
  }
}

void for_each_row(const std::filesystem::path& path,
                  const std::function<void(const std::string& line, const MetricsRow& row)>& take) {
  std::istringstream lines(read_text(path));
  for (std::string line; std::getline(lines, line);) {
    if (const auto row = parse_row(line)) take(line, *row);
  }
}

bool is_evaluation(const MetricsRow& row) {
  return std::ranges::any_of(row.values,
                             [](const auto& entry) { return is_of_evaluation(entry.first); });
}

}  // namespace

bool is_of_evaluation(std::string_view name) {
  const std::string_view split = name.substr(0, name.find('.'));
  return split == "val" || split == "test" || split == "val_ema" || split == "test_ema";
}

std::vector<MetricsRow> read_metrics(const std::filesystem::path& path) {
  std::vector<MetricsRow> rows;
  for_each_row(path, [&](const std::string&, const MetricsRow& row) { rows.push_back(row); });
  return rows;
}

MetricsLog::MetricsLog(const std::filesystem::path& path, std::int64_t step, bool evaluates_again) {
  if (std::filesystem::exists(path)) {
    std::string kept;
    for_each_row(path, [&](const std::string& line, const MetricsRow& row) {
      if (row.step > step) return;
      if (row.step == step && evaluates_again && is_evaluation(row)) return;
      kept += line + "\n";
      wall_before_ = row.wall;
    });
    write_file_durably(path, kept);
  }
  out_.emplace(path);
}

void MetricsLog::write(const MetricsRow& row, const std::map<std::string, std::string>& texts) {
  nlohmann::ordered_json line{{"step", row.step}, {"epoch", row.epoch}, {"wall", row.wall}};
  for (const auto& [name, value] : row.values) line[name] = value;
  for (const auto& [name, text] : texts) line[name] = text;
  out_->append(line.dump() + '\n');
}

void MetricsLog::sync() { out_->sync(); }

}  // namespace winnow::train

#include "train/run/log/metrics.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <sstream>

#include "common/error.h"
#include "common/json.h"
#include "common/json_reader.h"

namespace winnow::train {
namespace {

// nullopt for a line that was cut off by a full disk or a killed run.
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

bool make_sound(MetricsRow& row) {
  constexpr double kMost = 1e100;
  constexpr double kMostSeconds = 1e15;
  if (std::abs(row.epoch) > kMost || row.wall > kMostSeconds) return false;
  std::erase_if(row.values, [](const auto& entry) { return std::abs(entry.second) > kMost; });
  return true;
}

MetricsTail::News MetricsTail::read() {
  struct stat now {};
  News news;
  if (::stat(path_.c_str(), &now) != 0) return news;
  const InputFile file(path_);
  if (now.st_ino != file_ || file.size() < read_bytes_) {
    news.anew = read_bytes_ > 0;
    read_bytes_ = 0;
    file_ = now.st_ino;
  }
  std::string text(file.size() - read_bytes_, '\0');
  file.read_at(read_bytes_, std::as_writable_bytes(std::span(text)));
  text.resize(text.rfind('\n') + 1);  // npos + 1 is 0
  read_bytes_ += text.size();
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    auto row = parse_row(line);
    if (row && make_sound(*row)) news.rows.push_back(std::move(*row));
  }
  return news;
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
  Json line{{"step", row.step}, {"epoch", row.epoch}, {"wall", row.wall}};
  for (const auto& [name, value] : row.values) line[name] = value;
  for (const auto& [name, text] : texts) line[name] = text;
  out_->append(line.dump() + '\n');
}

void MetricsLog::sync() { out_->sync(); }

}  // namespace winnow::train

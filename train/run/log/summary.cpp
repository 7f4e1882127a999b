#include "train/run/log/summary.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "common/csv.h"

namespace winnow::train {
namespace {

// The shortest text that reads back as the number.
std::string text_of(double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::string(text.data(), end) : std::string();
}

// Whether it is a mean over steps, of the net or of a local head.
bool is_mean(const std::string& name) {
  const bool is_loss_or_top1 = name.ends_with(".loss") || name.ends_with(".top1");
  return name == "train.loss" || name == "train.top1" ||
         (name.starts_with("train.local.") && is_loss_or_top1);
}

// Values of an epoch's last interval, which say nothing about the whole epoch.
bool is_of_interval(const std::string& name) { return name.starts_with("ranks."); }

// Collects what was logged in a range of steps.
class Gathered {
 public:
  void add(const MetricsRow& row) {
    place_ = row;
    for (const auto& [name, value] : row.values) {
      if (is_of_interval(name)) continue;
      if (!is_mean(name)) {
        last_[name] = value;
        continue;
      }
      // A line's mean covers the steps since the previous line with that name.
      std::int64_t& logged = logged_[name];
      const auto steps = static_cast<double>(std::max<std::int64_t>(1, row.step - logged));
      logged = row.step;
      Mean& mean = means_[name];
      mean.sum += steps * value;
      mean.steps += steps;
    }
  }
  bool holds_anything() const { return !last_.empty() || !means_.empty(); }

  std::string take_line(const std::set<std::string>& names) {
    std::string line =
        std::to_string(place_.step) + "," + text_of(place_.epoch) + "," + text_of(place_.wall);
    for (const std::string& name : names) {
      line += ',';
      if (const auto mean = means_.find(name); mean != means_.end()) {
        line += text_of(mean->second.sum / mean->second.steps);
      } else if (const auto value = last_.find(name); value != last_.end()) {
        line += text_of(value->second);
      }
    }
    last_.clear();
    means_.clear();
    return line + '\n';
  }

 private:
  struct Mean {
    double sum = 0;
    double steps = 0;
  };
  MetricsRow place_;
  std::map<std::string, double> last_;
  std::map<std::string, Mean> means_;
  std::map<std::string, std::int64_t> logged_;  // step of the last line with each mean
};

}  // namespace

std::string summary_csv(const std::vector<MetricsRow>& rows) {
  std::set<std::string> names;
  for (const MetricsRow& row : rows) {
    for (const auto& [name, value] : row.values) {
      if (!is_of_interval(name)) names.insert(name);
    }
  }
  std::string csv = "step,epoch,wall";
  for (const std::string& name : names) csv += "," + csv_field(name);
  csv += '\n';
  Gathered gathered;
  bool evaluated = false;  // since the last row
  double epochs = 0;       // ended by the last row
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const MetricsRow& row = rows[i];
    gathered.add(row);
    for (const auto& [name, value] : row.values) evaluated = evaluated || is_of_evaluation(name);
    const bool is_last = i + 1 == rows.size();
    const bool ends_step = is_last || rows[i + 1].step != row.step;
    const bool ends_epoch = is_last || std::floor(row.epoch) > epochs;
    if (!ends_step || !(ends_epoch || evaluated)) continue;
    if (gathered.holds_anything()) csv += gathered.take_line(names);
    epochs = std::floor(row.epoch);
    evaluated = false;
  }
  return csv;
}

}  // namespace winnow::train

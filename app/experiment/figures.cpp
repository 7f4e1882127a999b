#include "app/experiment/figures.h"

#include <fmt/core.h>

#include "app/words.h"

namespace winnow::app {
namespace {

// "-0.30 to +0.54" in points, between two texts; empty if there is no interval.
std::string around(const std::optional<Interval>& interval, const char* before, const char* after) {
  if (!interval) return "";
  return fmt::format("{}{:+.2f} to {:+.2f}{}", before, 100 * interval->least, 100 * interval->most,
                     after);
}

}  // namespace

std::optional<double> mean_of(const std::vector<std::optional<double>>& values) {
  double sum = 0;
  double count = 0;
  for (const auto& value : values) {
    if (!value) continue;
    sum += *value;
    count += 1;
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

std::string mean_in_percent(const std::vector<std::optional<double>>& shares,
                            std::string_view none) {
  const std::optional<double> mean = mean_of(shares);
  return mean ? percent(*mean) : std::string(none);
}

std::string accuracy_in_words(double mean, const std::optional<double>& deviation) {
  return percent(mean) + (deviation ? fmt::format(" ± {:.2f}", 100 * *deviation) : "");
}

std::string in_points(const PairedDifference& difference) {
  return fmt::format("{:+.2f}", 100 * difference.mean) + around(difference.interval, ", ", "");
}

std::string points_html(const std::optional<PairedDifference>& difference) {
  if (!difference) return "";
  return fmt::format("{:+.2f}", 100 * difference->mean) + around(difference->interval, " (", ")");
}

std::string exactly(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

Json json_of(const std::optional<PairedDifference>& difference) {
  if (!difference) return {};
  const std::optional<Interval>& interval = difference->interval;
  return {{"mean", difference->mean},
          {"least", interval ? Json(interval->least) : Json()},
          {"most", interval ? Json(interval->most) : Json()}};
}

}  // namespace winnow::app

#include "app/plan/target.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "common/error.h"
#include "common/file.h"
#include "train/run/record/best.h"
#include "train/run/record/config_facts.h"
#include "train/run/record/setup.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

// Settings in which runs may differ.
const std::set<std::string>& free_settings() {
  static const std::set<std::string> names{"recipe.batch_size", "recipe.lr", "recipe.seed",
                                           "net.micro_batch"};
  return names;
}

struct StoredSettings {
  double batch = 0;
  std::map<std::string, std::string> rest{};
};

StoredSettings settings_of_run(const fs::path& run) {
  const fs::path file = run / "config.json";
  if (!fs::exists(file)) throw UsageError(run.string() + " is no run of winnow train");
  const std::string text = read_text(file);
  train::parse_config(text, file.string());  // throws if it is damaged
  StoredSettings settings{.rest = train::config_settings(text)};
  const auto batch = settings.rest.find("recipe.batch_size");
  if (batch == settings.rest.end()) throw FormatError(file.string() + " lacks recipe.batch_size");
  settings.batch = std::stod(batch->second);
  for (const std::string& name : free_settings()) settings.rest.erase(name);
  return settings;
}

void require_equal(const StoredSettings& a, const fs::path& first, const StoredSettings& b,
                   const fs::path& second) {
  const auto check = [&](const StoredSettings& one, const StoredSettings& other) {
    for (const auto& [name, value] : one.rest) {
      const auto found = other.rest.find(name);
      if (found != other.rest.end() && found->second == value) continue;
      throw UsageError(first.string() + " and " + second.string() + " differ in " + name +
                       "; steps to a target are compared of runs that differ in batch, rate and "
                       "seed alone");
    }
  };
  check(a, b);
  check(b, a);
}

std::vector<std::int64_t> batches_to_show(const std::vector<train::ReachedTarget>& runs,
                                          std::int64_t batch) {
  std::set<std::int64_t> batches{batch};
  double least = runs.front().batch;
  double most = least;
  for (const train::ReachedTarget& run : runs) {
    batches.insert(std::llround(run.batch));
    least = std::min(least, run.batch);
    most = std::max(most, run.batch);
  }
  for (double power = 1; power <= 2 * most; power *= 2) {
    if (power >= least / 2) batches.insert(std::llround(power));
  }
  return {batches.begin(), batches.end()};
}

}  // namespace

Target parse_target(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  Target target{.text = text};
  const std::string number = equals == std::string::npos ? "" : text.substr(equals + 1);
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), target.value);
  if (number.empty() || error != std::errc() || end != number.data() + number.size() ||
      !std::isfinite(target.value)) {
    throw UsageError("--target " + text + " is not of the form METRIC=NUMBER, as top1=0.9");
  }
  target.metric = train::watched_metric(text.substr(0, equals));
  if (target.metric.empty()) {
    throw UsageError("--target " + text + " names no metric; give one as top1=0.9");
  }
  return target;
}

train::ReachedTarget reached(const std::vector<train::MetricsRow>& rows, const Target& target,
                             double batch, const std::string& run) {
  double before = 0;
  bool any = false;
  double best = 0;
  for (const train::MetricsRow& row : rows) {
    const auto found = row.values.find(target.metric);
    if (found == row.values.end()) continue;
    if (!train::is_better(target.metric, target.value, found->second)) {
      return {.batch = batch, .steps = static_cast<double>(row.step), .before = before};
    }
    if (!any || train::is_better(target.metric, found->second, best)) best = found->second;
    any = true;
    before = static_cast<double>(row.step);
  }
  if (!any) throw UsageError(run + " has no evaluation with " + target.metric);
  throw UsageError(run + " never reached " + target.text + ": its best " + target.metric + " is " +
                   std::to_string(best));
}

std::vector<train::ReachedTarget> read_reached(const std::vector<fs::path>& runs,
                                               const Target& target) {
  std::vector<train::ReachedTarget> points;
  std::vector<StoredSettings> settings;
  for (const fs::path& run : runs) {
    settings.push_back(settings_of_run(run));
    require_equal(settings.front(), runs.front(), settings.back(), run);
    points.push_back(reached(train::read_metrics(run / "metrics.jsonl"), target,
                             settings.back().batch, run.string()));
  }
  train::fit_steps_to_target(points);  // throws if there are too few batches
  return points;
}

PlanTarget plan_target(const std::vector<train::ReachedTarget>& points, const Target& target,
                       std::int64_t batch,
                       const std::function<double(std::int64_t batch)>& step_seconds,
                       double hour_price) {
  PlanTarget out{.target = target.text, .fit = train::fit_steps_to_target(points)};
  out.critical_batch = train::critical_batch(out.fit);
  for (const std::int64_t size : batches_to_show(points, batch)) {
    const auto samples = static_cast<double>(size);
    PlanBatch row{.batch = size,
                  .steps = out.fit.at(samples),
                  .steps_range = train::steps_range_at(points, samples)};
    const double step = step_seconds(size);
    if (step > 0) row.seconds = row.steps * step;
    if (row.seconds && hour_price > 0) row.price = *row.seconds * hour_price / 3600;
    out.rows.push_back(row);
  }
  return out;
}

}  // namespace winnow::app

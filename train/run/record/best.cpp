#include "train/run/record/best.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "common/counted.h"
#include "common/error.h"

namespace winnow::train {
namespace {

constexpr std::array<std::string_view, 5> kMetrics{"top1", "top5", "top1_leak_free", "map", "loss"};
constexpr std::array<std::string_view, 2> kSplits{"val", "val_ema"};

}  // namespace

bool is_better(const std::string& metric, double value, double than) {
  return metric.ends_with(".loss") ? value < than : value > than;
}

std::map<std::string, double> figures_of(const Evaluation& evaluation, const std::string& split,
                                         int classes) {
  std::map<std::string, double> figures{{split + ".loss", evaluation.loss},
                                        {split + ".top1", evaluation.top1}};
  if (classes >= kTop5Classes) figures[split + ".top5"] = evaluation.top5;
  if (evaluation.mean_average_precision)
    figures[split + ".map"] = *evaluation.mean_average_precision;
  if (evaluation.top1_leak_free) figures[split + ".top1_leak_free"] = *evaluation.top1_leak_free;
  return figures;
}

bool enter_evaluation(std::optional<BestEvaluation>& best, const std::string& metric,
                      const std::map<std::string, double>& figures, std::int64_t step) {
  if (best && best->metric != metric) best.reset();
  const auto figure = figures.find(metric);
  const bool is_known = figure != figures.end() && std::isfinite(figure->second);
  if (is_known && (!best || is_better(metric, figure->second, best->value))) {
    best = {.metric = metric, .value = figure->second, .step = step};
    return true;
  }
  if (best) ++best->since;
  return false;
}

bool is_over(const EvaluationOptions& options, const std::optional<BestEvaluation>& best) {
  return options.patience > 0 && best && best->metric == watched_metric(options.keep_best) &&
         best->since >= options.patience;
}

std::string in_words(const BestEvaluation& best) {
  std::array<char, 32> value{};
  std::snprintf(value.data(), value.size(), "%.4g", best.value);
  return best.metric + " is no better than " + value.data() + ", of step " +
         std::to_string(best.step) + ", in the " +
         count_of(static_cast<std::uint64_t>(best.since), "evaluation") + " since";
}

std::string watched_metric(const std::string& text) {
  if (text.empty()) return "";
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string metric = text.substr(0, colon);
  const std::string split = colon < text.size() ? text.substr(colon + 1) : "val";
  if (std::ranges::find(kMetrics, metric) == kMetrics.end() ||
      std::ranges::find(kSplits, split) == kSplits.end()) {
    throw UsageError(
        "--keep-best " + text +
        " is not METRIC or METRIC:SPLIT; metrics: top1, top5, top1_leak_free, map, loss; "
        "splits: val, val_ema (test is evaluated once, at the end)");
  }
  return split + "." + metric;
}

}  // namespace winnow::train

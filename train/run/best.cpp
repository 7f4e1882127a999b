#include "train/run/best.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "common/error.h"
#include "train/optim/averaging.h"
#include "train/run/job.h"

namespace winnow::train {
namespace {

constexpr int kTop5Classes = 6;  // of fewer, all are among the five largest

constexpr std::array<std::string_view, 5> kMetrics{"top1", "top5", "top1_leak_free", "map", "loss"};
constexpr std::array<std::string_view, 2> kSplits{"val", "val_ema"};

void require_val(const Job& job, const std::string& who) {
  if (!job.data.evaluation_sets.at(Split::kVal).samples.ids.empty()) return;
  throw UsageError(who +
                   ", and there are none of split val; cut some from the training images by "
                   "--holdout 0.1, or make splits by winnow split");
}

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
         std::to_string(best.step) + ", in the " + std::to_string(best.since) +
         " evaluations since";
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
        "splits: val, val_ema (test is looked at once, at the end)");
  }
  return split + "." + metric;
}

void check_evaluation(const EvaluationOptions& evaluation, const Job& job) {
  const std::string metric = watched_metric(evaluation.keep_best);
  if (evaluation.interval > 0) require_val(job, "--eval-every needs images to evaluate on");
  if (metric.empty()) {
    if (evaluation.patience == 0) return;
    throw UsageError("--early-stop goes by the metric of --keep-best; give that too");
  }
  require_val(job, "--keep-best needs images to choose by");
  const std::string wanted = "--keep-best " + evaluation.keep_best;
  if (metric.starts_with("val_ema.") && ema_of(job.recipe.options).every == 0) {
    throw UsageError(wanted + " is of the moving average of the weights; give --ema-decay too");
  }
  if (metric.ends_with(".top5") && job.setup.options.classes < kTop5Classes) {
    throw UsageError(wanted + " is 1 for the " + std::to_string(job.setup.options.classes) +
                     " classes of this net; take top1");
  }
  if (metric.ends_with(".map") && !job.data.evaluation_sets.at(Split::kVal).several_labels) {
    throw UsageError(wanted + " is of images with several labels and --loss bce or focal");
  }
  if (metric.ends_with(".top1_leak_free") && job.data.selection.empty()) {
    throw UsageError(wanted + " is known by a selection only; name one by --selection");
  }
}

}  // namespace winnow::train

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "train/evaluate/evaluate.h"
#include "train/run/options.h"

namespace winnow::train {

// The best evaluation of a run so far. Stored in state.json. Equal on all ranks.
struct BestEvaluation {
  std::string metric;      // name of the compared value in metrics.jsonl, such as "val.top1"
  double value = 0;        // value of the metric; finite
  std::int64_t step = 0;   // number of training steps done at this evaluation
  std::int64_t since = 0;  // number of later evaluations, none of them better
};

// Least number of classes for top-5 accuracy: with fewer, every prediction is in the top 5.
inline constexpr int kTop5Classes = 6;

// Returns the results of an evaluation by their names in metrics.jsonl: "val.loss", "val.top1" ...
// classes  Number of classes of the net; below kTop5Classes there is no top5.
std::map<std::string, double> figures_of(const Evaluation& evaluation, const std::string& split,
                                         int classes);

// Whether `value` of this metric is better than `than`: lower for a loss, higher for an accuracy.
bool is_better(const std::string& metric, double value, double than);

// Compares the evaluation after `step` steps with `best`, and replaces `best` if it is better.
// figures  Results of this evaluation. Without a finite value of `metric` it is never better.
// best     Discarded first if it was chosen by another metric.
// Out      Whether this evaluation is the best so far.
bool enter_evaluation(std::optional<BestEvaluation>& best, const std::string& metric,
                      const std::map<std::string, double>& figures, std::int64_t step);

// Whether early stopping ends the run: options.patience evaluations since `best` brought no
// improvement.
bool is_over(const EvaluationOptions& options, const std::optional<BestEvaluation>& best);

// Describes an early stop for the user: "val.top1 is no better than 0.9312, of step 400, in the 5
// evaluations since".
std::string in_words(const BestEvaluation& best);

// Converts METRIC[:SPLIT] of --keep-best to the name in metrics.jsonl. Empty for an empty text.
// Throws UsageError for an unknown metric.
std::string watched_metric(const std::string& text);

}  // namespace winnow::train

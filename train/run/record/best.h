#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "train/evaluate/evaluate.h"
#include "train/run/options.h"

namespace winnow::train {

// The best evaluation of a run so far, stored in state.json. Equal on all ranks.
struct BestEvaluation {
  std::string metric;      // name in metrics.jsonl, such as "val.top1"
  double value = 0;        // finite
  std::int64_t step = 0;   // steps done
  std::int64_t since = 0;  // number of later evaluations, none of them better
};

inline constexpr int kTop5Classes = 6;  // with fewer classes, the five largest logits include all

// The figures of an evaluation by their names in metrics.jsonl: "val.loss", "val.top1" ...
// `classes`: of the net; with five or fewer there is no top5.
std::map<std::string, double> figures_of(const Evaluation& evaluation, const std::string& split,
                                         int classes);

// Whether `value` of this metric is better than `than`: a loss must be lower, a share higher.
bool is_better(const std::string& metric, double value, double than);

// Records an evaluation after `step` steps in `best`. Returns whether it is the best so far. An
// evaluation without a finite `metric` is not better. A best evaluation by another metric is
// discarded.
bool enter_evaluation(std::optional<BestEvaluation>& best, const std::string& metric,
                      const std::map<std::string, double>& figures, std::int64_t step);

// Whether the run ends because too many evaluations in a row brought no improvement.
bool is_over(const EvaluationOptions& options, const std::optional<BestEvaluation>& best);

// "val.top1 is no better than 0.9312, of step 400, in the 5 evaluations since".
std::string in_words(const BestEvaluation& best);

// The name in metrics.jsonl for METRIC[:SPLIT]; empty for an empty text. UsageError if it is
// unknown.
std::string watched_metric(const std::string& text);

}  // namespace winnow::train

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "train/evaluate/evaluate.h"
#include "train/run/options.h"

namespace winnow::train {

// The best evaluation of a run so far, in its state.json. Equal on all ranks.
struct BestEvaluation {
  std::string metric;      // its name in metrics.jsonl, "val.top1"
  double value = 0;        // finite
  std::int64_t step = 0;   // steps done
  std::int64_t since = 0;  // evaluations after it, none of them better
};

inline constexpr int kTop5Classes = 6;  // of fewer, all are among the five largest

// The figures of an evaluation by their names in metrics.jsonl: "val.loss", "val.top1" ...
// `classes`: of the net; of five or fewer there is no top5.
std::map<std::string, double> figures_of(const Evaluation& evaluation, const std::string& split,
                                         int classes);

// Whether a figure of that name is better `than` another: a lower loss, a higher share.
bool is_better(const std::string& metric, double value, double than);

// Enters figures of an evaluation after `step` steps into `best`. True: it is the best so far. An
// evaluation without `metric`, or where that is not finite, is none of the better ones. What is
// known of another metric is forgotten.
bool enter_evaluation(std::optional<BestEvaluation>& best, const std::string& metric,
                      const std::map<std::string, double>& figures, std::int64_t step);

// Whether so many evaluations were no better that the run ends.
bool is_over(const EvaluationOptions& options, const std::optional<BestEvaluation>& best);

// "val.top1 is no better than 0.9312, of step 400, in the 5 evaluations since".
std::string in_words(const BestEvaluation& best);

// The name in metrics.jsonl of METRIC[:SPLIT]; empty for an empty one. UsageError: not known.
std::string watched_metric(const std::string& text);

}  // namespace winnow::train

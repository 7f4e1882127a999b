#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/comm/communicator.h"
#include "common/progress.h"
#include "pipeline/load/dataset.h"
#include "pipeline/load/exchange.h"
#include "pipeline/load/loader.h"
#include "pipeline/load/sampler.h"
#include "train/backend/backend.h"
#include "train/evaluate/view_mean.h"

namespace winnow::train {

struct Evaluation {
  double loss = 0;  // mean
  double top1 = 0;  // in [0, 1]; of several labels one has the largest logit, of none no one
  double top5 = 0;  // likewise: a label is among the five largest logits
  std::uint64_t samples = 0;
  std::optional<double> top1_leak_free{};  // without the leaked samples; none without their list
  std::uint64_t leaked = 0;
  std::optional<double> mean_average_precision{};  // with task.several_labels

  // Rank 0 only.
  std::vector<std::optional<double>> average_precisions{};  // likewise, of each class

  // Rank 0 only, in the order of the samples.
  // Of several the one that was predicted, else the first; -1: the sample has none.
  std::vector<std::int32_t> labels{};
  std::vector<std::int32_t> predictions{};
  std::vector<float> losses{};
  std::vector<float> logits{};  // (samples, classes), when asked for
};

struct EvaluationTask {
  const pipeline::Source& source;
  const pipeline::SampleSet& samples;
  const std::vector<SampleId>* leaked = nullptr;  // ascending; null: not known
  bool with_logits = false;
  ViewMean view_mean{};
  // Of each sample, for the average precisions; null where each has one. On all ranks or on none.
  const pipeline::SampleLabels* several_labels = nullptr;
};

// Evaluates every sample once. The last micro-batch is padded with weight 0.
//
// Views      With task.view_mean a sample is computed once for each view, and all that is said of
// it
//            (loss, prediction, logits) is of the mean: the loss as in training, in float64.
// programs   Lanes: equal inference programs, bound to the same weights, which they take up here.
//            Each has a thread, the first one the caller's.
// Result     The same bits for any number of ranks and lanes: a micro-batch is computed by one
//            program alone, and losses are added in the order of the samples.
// Memory     Of each sample 16 bytes, with logits or several labels 4 bytes a class more: on rank 0
// of all samples, on
//            the others of their own. With views a micro-batch more a lane.
// Collective.
Evaluation evaluate(std::span<const std::unique_ptr<Program>> programs, const EvaluationTask& task,
                    const pipeline::LoadOptions& load, comm::Communicator& comm,
                    const ProgressSink& progress);

}  // namespace winnow::train

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
  // in [0, 1]; with several labels, one of them has the largest logit; without labels, a miss
  double top1 = 0;
  double top5 = 0;  // in [0, 1]; a label is among the five largest logits
  std::uint64_t samples = 0;
  // without leaked samples; nullopt if their list is not known
  std::optional<double> top1_leak_free{};
  std::uint64_t leaked = 0;
  std::optional<double> mean_average_precision{};  // if task.several_labels

  // Rank 0 only.
  // for each class, if task.several_labels
  std::vector<std::optional<double>> average_precisions{};

  // Rank 0 only, in sample order. With several labels: the predicted one, otherwise the first. -1:
  // no label.
  std::vector<std::int32_t> labels{};
  std::vector<std::int32_t> predictions{};
  std::vector<float> losses{};
  std::vector<float> logits{};  // (samples, classes), if requested
};

struct EvaluationTask {
  const pipeline::Source& source;
  const pipeline::SampleSet& samples;
  const std::vector<SampleId>* leaked = nullptr;  // ascending; nullptr: not known
  bool with_logits = false;
  ViewMean view_mean{};
  // Labels of each sample, for average precision; nullptr if each has one. The same choice on all
  // ranks.
  const pipeline::SampleLabels* several_labels = nullptr;
};

// Evaluates every sample once. The last micro-batch is padded with weight 0. Collective.
//
// Views     With task.view_mean, a sample is computed once for each view. Loss, prediction and
//           logits are those of the mean; the loss is as in training, in float64.
// programs  Lanes: equal inference programs, bound to the same weights, which are loaded here. Each
//           has a thread; the first one uses the caller's.
// Result    The same bits for any number of ranks and lanes: each micro-batch is computed by one
//           program, and losses are summed in sample order.
// Memory    16 bytes a sample; with logits or several labels, another 4 bytes a class. On rank 0
//           for all samples, on other ranks for their own. With views, one more micro-batch for
//           each lane.
Evaluation evaluate(std::span<const std::unique_ptr<Program>> programs, const EvaluationTask& task,
                    const pipeline::LoadOptions& load, comm::Communicator& comm,
                    const ProgressSink& progress);

}  // namespace winnow::train

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
#include "train/plan/rank_stages.h"

namespace winnow::train {

struct Evaluation {
  double loss = 0;  // mean loss over the samples
  // Share of the samples whose label has the largest logit, in [0, 1]. With several labels, one of
  // them suffices; without labels, the prediction counts as wrong.
  double top1 = 0;
  double top5 = 0;  // share of the samples with a label among the five largest logits, in [0, 1]
  std::uint64_t samples = 0;
  // Top-1 accuracy without images that have a duplicate in training; nullopt if these are not
  // known.
  std::optional<double> top1_leak_free{};
  std::uint64_t leaked = 0;
  // Mean of the average precision over the classes; nullopt unless samples may have several labels.
  std::optional<double> mean_average_precision{};

  // Average precision of each class, on rank 0 only, if samples may have several labels.
  std::vector<std::optional<double>> average_precisions{};

  // Label of each sample in order, on rank 0 only. With several labels: the predicted one if it is
  // among them, otherwise the first. -1: no label.
  std::vector<std::int32_t> labels{};
  std::vector<std::int32_t> predictions{};
  std::vector<float> losses{};
  std::vector<float> logits{};  // shape (samples, classes), on rank 0 only, if requested
};

// The stages of a pipeline that evaluates a net.
struct EvaluationStages {
  RankStages ranks;
  comm::Wire wire = comm::Wire::kF32;  // form of the values that stages send
};

struct EvaluationTask {
  const pipeline::Source& source;
  const pipeline::SampleSet& samples;
  // Ids of images that have a duplicate in training, ascending; nullptr: not known.
  const std::vector<SampleId>* leaked = nullptr;
  bool with_logits = false;
  ViewMean view_mean{};
  // Labels of each sample, for average precision; nullptr if each sample has exactly one. The same
  // choice on all ranks.
  const pipeline::SampleLabels* several_labels = nullptr;
  // Each rank has the programs of its stage; nullopt: of the whole net.
  std::optional<EvaluationStages> stages{};
};

// Evaluates every sample once. The last micro-batch is padded with samples of weight 0. Collective.
//
// Views     With task.view_mean, each sample is computed once for each of its augmented views.
//           Loss, prediction and logits are those of the mean; the loss is the training loss, in
//           float64.
// programs  Equal inference programs that run in parallel (lanes), bound to the same weights, which
//           are loaded here. Each has a thread; the first one uses the caller's.
// Stages    The first stage decodes images, the last one reads labels. Each passes the values of a
//           micro-batch, or of one of its views, to the next.
// Result    The same bits for any number of ranks and lanes: each micro-batch is computed by one
//           program, and losses are summed in sample order.
// Memory    16 bytes a sample; with logits or several labels, another 4 bytes a class. On rank 0
//           for all samples, on other ranks for their own. With views, one more micro-batch for
//           each lane.
Evaluation evaluate(std::span<const std::unique_ptr<Program>> programs, const EvaluationTask& task,
                    const pipeline::LoadOptions& load, comm::Communicator& comm,
                    const ProgressSink& progress);

}  // namespace winnow::train

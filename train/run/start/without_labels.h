#pragma once

#include "train/run/options.h"
#include "train/run/start/job.h"

namespace winnow::train {

// Whether the loss of a run reads no labels: it compares views of each image, and there is nothing
// to evaluate.
bool learns_without_labels(const LossOptions& loss);

// Throws UsageError where options of such a run ask for labels, for an evaluation, or for views
// that are no pairs. Nothing for other runs.
void check_without_labels(const Job& job, const DataOptions& data,
                          const EvaluationOptions& evaluation,
                          const pipeline::ClassWeights& weights);

// The split that such a run learns from. Without a selection: train, or where the cache has no
// train split its images without one. With a selection: likewise, of what it keeps.
Split split_without_labels(const DataOptions& options, const JobData& data);

// For each request one for each view of its sample, one behind the other: views are augmented as
// if the sample had come so often. Pure.
std::vector<pipeline::Request> in_views(const std::vector<pipeline::Request>& requests, int views);

// The samples of a batch of views, each once. Pure.
std::vector<SampleId> samples_of_views(const std::vector<SampleId>& ids, int views);

}  // namespace winnow::train

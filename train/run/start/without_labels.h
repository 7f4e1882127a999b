#pragma once

#include "train/run/options.h"
#include "train/run/start/job.h"

namespace winnow::train {

// Whether the loss of a run reads no labels. Such a loss compares augmented views of each image,
// and there is nothing to evaluate.
bool learns_without_labels(const LossOptions& loss);

// Checks the options of a run whose loss reads no labels. Accepts all other runs.
// Throws  UsageError: an option needs labels or an evaluation, or the views are not pairs.
void check_without_labels(const Job& job, const DataOptions& data,
                          const EvaluationOptions& evaluation,
                          const pipeline::ClassWeights& weights);

// Returns the split to train on without labels: train; or, if the cache has no train split, the
// images of no split. With a selection, only the images that it keeps count.
Split split_without_labels(const DataOptions& options, const JobData& data);

// Repeats each request `views` times in a row, once for each augmented view of its sample. Views
// are augmented as if the sample occurred that often. Pure.
std::vector<pipeline::Request> in_views(const std::vector<pipeline::Request>& requests, int views);

// Returns the samples of a batch of views, each once. Pure.
std::vector<SampleId> samples_of_views(const std::vector<SampleId>& ids, int views);

}  // namespace winnow::train

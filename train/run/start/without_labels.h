#pragma once

#include "train/run/options.h"
#include "train/run/start/job.h"

namespace winnow::train {

// Whether a run's loss reads no labels. It compares views of each image, and there is nothing to
// evaluate.
bool learns_without_labels(const LossOptions& loss);

// Throws UsageError if options of such a run need labels or an evaluation, or views that are not
// pairs. Accepts other runs.
void check_without_labels(const Job& job, const DataOptions& data,
                          const EvaluationOptions& evaluation,
                          const pipeline::ClassWeights& weights);

// The split that such a run trains on: train; or, if the cache has no train split, its images
// without a split. With a selection: the same, among the images it keeps.
Split split_without_labels(const DataOptions& options, const JobData& data);

// Repeats each request for each view of its sample, adjacent to each other. Views are augmented as
// if the sample occurred that often. Pure.
std::vector<pipeline::Request> in_views(const std::vector<pipeline::Request>& requests, int views);

// The samples of a batch of views, each once. Pure.
std::vector<SampleId> samples_of_views(const std::vector<SampleId>& ids, int views);

}  // namespace winnow::train

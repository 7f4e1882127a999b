#include "train/run/split_evaluation.h"

#include <string>

#include "train/evaluate/test_augmentation.h"
#include "train/nets/losses.h"
#include "train/run/loading.h"

namespace winnow::train {

Evaluation evaluate_split(const Job& job, const TrainOptions& options, Engine& engine,
                          comm::Communicator& comm, Split split) {
  const EvaluationSet& set = job.data.evaluation_sets.at(split);
  const bool judged = !options.data.selection.empty();
  const std::string& tta = options.run.evaluation.tta;
  const ViewMean view_mean{.of = tta.empty() ? nullptr : &find_test_augmentation(tta),
                           .sigmoid = find_loss(options.recipe.loss.name).sigmoid};
  const int resize_px = eval_resize_of(options.data, job.data.info, job.setup);
  return evaluate(engine.inference(),
                  {.source = job.data.source,
                   .samples = set.samples,
                   .leaked = judged ? &set.leaked : nullptr,
                   .view_mean = view_mean,
                   .several_labels = set.several_labels ? &*set.several_labels : nullptr},
                  load_options(job, options, eval_recipe(resize_px), 0), comm, {});
}

std::optional<pipeline::SampleLabels> several_labels(const pipeline::Cache& cache,
                                                     const std::vector<SampleId>& ids,
                                                     const std::string& loss) {
  if (!find_loss(loss).sigmoid) return std::nullopt;
  pipeline::SampleLabels labels = pipeline::read_labels(cache, ids);
  if (labels.labels.size() <= ids.size()) return std::nullopt;  // each has at least one
  return labels;
}

}  // namespace winnow::train

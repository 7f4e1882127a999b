#include "train/run/split_evaluation.h"

#include <cstddef>
#include <string>
#include <utility>

#include "common/error.h"
#include "train/evaluate/test_augmentation.h"
#include "train/nets/losses.h"
#include "train/run/loading.h"

namespace winnow::train {

Evaluation evaluate_split(const Job& job, int threads, Engine& engine, comm::Communicator& comm,
                          Split split) {
  const EvaluationSet& set = job.data.evaluation_sets.at(split);
  const bool judged = !job.data.selection.empty();
  const ViewMean view_mean{.of = job.tta.empty() ? nullptr : &find_test_augmentation(job.tta),
                           .sigmoid = find_loss(job.recipe.loss.name).sigmoid};
  return evaluate(engine.inference(),
                  {.source = job.data.source,
                   .samples = set.samples,
                   .leaked = judged ? &set.leaked : nullptr,
                   .view_mean = view_mean,
                   .several_labels = set.several_labels ? &*set.several_labels : nullptr},
                  load_options(job, eval_recipe(job.eval_resize_px), threads, 0), comm, {});
}

std::optional<pipeline::SampleLabels> several_labels(const pipeline::Cache& cache,
                                                     const std::vector<SampleId>& ids,
                                                     const LossOptions& loss,
                                                     const std::string& what,
                                                     const std::vector<std::int32_t>& label_of) {
  if (!find_loss(loss.name).sigmoid) {
    if (!loss.allow_unlabelled) return std::nullopt;
    throw UsageError(
        "--allow-unlabelled is for losses of each class's sigmoid, bce and focal, not for " +
        loss.name);
  }
  pipeline::SampleLabels labels = pipeline::read_labels(cache, ids, label_of);
  std::size_t unlabelled = 0;
  bool one_each = true;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::size_t count = labels[i].size();
    unlabelled += count == 0 ? 1 : 0;
    one_each = one_each && count == 1;
  }
  if (unlabelled > 0 && !loss.allow_unlabelled) {
    throw UsageError(std::to_string(unlabelled) + " of " + std::to_string(ids.size()) + " " + what +
                     " have no label; take them for images of no class by --allow-unlabelled, or "
                     "leave them out");
  }
  return one_each ? std::nullopt : std::optional(std::move(labels));
}

}  // namespace winnow::train

#include "train/run/evaluations/split_evaluation.h"

#include "train/evaluate/test_augmentation.h"
#include "train/nets/losses.h"
#include "train/run/start/loading.h"

namespace winnow::train {

Evaluation evaluate_split(const Job& job, int threads, Engine& engine, comm::Communicator& comm,
                          Split split) {
  const EvaluationSet& set = job.data.evaluation_sets.at(split);
  const bool judged = !job.data.selection.empty();
  const ViewMean view_mean{.of = job.tta.empty() ? nullptr : &find_test_augmentation(job.tta),
                           .sigmoid = find_loss(job.recipe.loss.name).sigmoid};
  const EvaluationStages stages{job.ranks, engine.executor().execution().handed.wire};
  return evaluate(engine.inference(),
                  {.source = job.data.source,
                   .samples = set.samples,
                   .leaked = judged ? &set.leaked : nullptr,
                   .view_mean = view_mean,
                   .several_labels = set.several_labels ? &*set.several_labels : nullptr,
                   .stages = stages},
                  load_options(job, eval_recipe(job.eval_resize_px), threads, 0), comm, {});
}

}  // namespace winnow::train

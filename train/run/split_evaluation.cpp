#include "train/run/split_evaluation.h"

#include "train/run/loading.h"

namespace winnow::train {

Evaluation evaluate_split(const Job& job, const TrainOptions& options, Engine& engine,
                          comm::Communicator& comm, Split split) {
  const EvaluationSet& set = job.data.evaluation_sets.at(split);
  const bool judged = !options.data.selection.empty();
  const int resize_px = eval_resize_of(options.data, job.data.info, job.setup);
  return evaluate(engine.inference(),
                  {job.data.source, set.samples, judged ? &set.leaked : nullptr},
                  load_options(job, options, eval_recipe(resize_px), 0), comm, {});
}

}  // namespace winnow::train

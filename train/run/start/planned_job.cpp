#include "train/run/start/planned_job.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/comm/agreement.h"
#include "common/error.h"
#include "train/ops/batch_norm.h"
#include "train/optim/recipe_options.h"
#include "train/run/start/planning.h"

namespace winnow::train {
namespace {

pipeline::DatasetInfo describe(const DataShape& shape) {
  pipeline::DatasetInfo info;
  for (int label = 0; label < shape.classes; ++label) info.classes.push_back(std::to_string(label));
  info.channels = shape.channels;
  info.mean.fill(0.5);
  info.deviation.fill(0.25);
  info.split_counts.at(static_cast<std::size_t>(Split::kTrain)) =
      static_cast<std::uint64_t>(shape.images);
  return info;
}

EvaluationSet made_up(std::int64_t images) {
  EvaluationSet set;
  set.samples.ids.resize(static_cast<std::size_t>(images));
  return set;
}

}  // namespace

Job job_of_shape(const TrainOptions& options, const DataShape& shape, const Backend& backend,
                 comm::Communicator& comm) {
  Job job;
  comm::on_all(comm, [&] {
    job.data.info = describe(shape);
    job.data.evaluation_sets[Split::kVal] = made_up(shape.evaluation_images);
    job.data.evaluation_sets[Split::kTest] = {};
    take_net(options, job);
    job.ranks = {{comm.size()}};
    job.batches = plan_batches(shape.images, options.batch.batch, job.setup.options.batch,
                               options.recipe.epochs, {comm.rank(), comm.size()},
                               !find_loss(options.recipe.loss.name).reads_labels());
    check_execution(options.execution, backend);
    check_recipe(options.recipe.optimizer, options.recipe.rate.schedule, options.recipe.options);
  });
  return job;
}

Job with_micro_batch(const Job& job, std::int64_t micro_batch, std::int64_t batch, int rank,
                     int ranks) {
  Job other = job;
  other.setup.options.batch = micro_batch;
  other.forward = trained_graph(other.setup);
  const BatchLayout& b = job.batches;
  const std::int64_t whole = batch > 0 ? batch : b.batch;
  const double epochs = static_cast<double>(b.total_steps) * static_cast<double>(b.batch) /
                        static_cast<double>(b.samples);
  other.batches = plan_batches(b.samples, whole, micro_batch, epochs, {rank, ranks},
                               !find_loss(job.setup.options.loss.name).reads_labels());
  if (whole == b.batch) other.batches.total_steps = b.total_steps;
  return other;
}

}  // namespace winnow::train

#include "train/run/start/loading.h"

#include "pipeline/load/exchange.h"
#include "train/run/start/without_labels.h"

namespace winnow::train {

pipeline::LoadOptions load_options(const Job& job, pipeline::Recipe recipe, int threads,
                                   std::int64_t first_step) {
  return {.geometry = geometry_of(job.setup),
          .recipe = recipe,
          .seed = job.recipe.seed,
          .threads = threads,
          .data = {.levels = levels_of(job.setup), .label_of = job.data.label_of},
          .first_batch = static_cast<std::uint64_t>(first_step)};
}

std::unique_ptr<pipeline::Loader> load_training_batches(const Job& job, int threads,
                                                        const comm::Communicator& comm,
                                                        StepRange steps, int batches_ahead) {
  const auto requests = [&job, steps, mixed = pipeline::mixes(job.augment),
                         views = views_of(job.setup)](
                            int rank, std::uint64_t i) -> std::vector<pipeline::Request> {
    const std::int64_t step = steps.first + static_cast<std::int64_t>(i);
    if (step >= steps.last) return {};
    const RankOf place = job.ranks.place_of(rank);
    return in_views(
        requests_of(part_of(job.batches, place.rank, place.ranks), *job.data.sampler, step, mixed),
        views);
  };
  pipeline::LoadOptions load = load_options(job, job.augment, threads, steps.first);
  load.batches_ahead = batches_ahead;
  load.data.pixels = job.ranks.stage_of(comm.rank()) == 0;
  return std::make_unique<pipeline::Loader>(
      *job.data.source.cache, load,
      pipeline::make_planner(job.data.source.spread, comm.rank(), requests, job.recipe.seed));
}

std::uint64_t first_position(const BatchLayout& batches, std::int64_t step) {
  return static_cast<std::uint64_t>(step * batches.batch +
                                    batches.first_micro * batches.micro_batch);
}

}  // namespace winnow::train

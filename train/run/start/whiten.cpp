#include "train/run/start/whiten.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/error.h"
#include "pipeline/load/exchange.h"
#include "pipeline/load/loader.h"
#include "train/model/whitening.h"
#include "train/run/start/loading.h"

namespace winnow::train {
namespace {

constexpr std::uint64_t kImages = 5000;
constexpr std::uint64_t kAtOnce = 50;

// Rank 0's sums cover all images, those of other ranks none.
PatchSums sum_patches(const Job& job, int threads, comm::Communicator& comm, int side_px) {
  const pipeline::Sampler& sampler = *job.data.sampler;
  const std::uint64_t count = std::min(kImages, sampler.epoch_size());
  const auto requests = [&](int rank, std::uint64_t i) -> std::vector<pipeline::Request> {
    const std::uint64_t first = i * kAtOnce;
    if (first >= count) return {};
    if (rank != 0) return {pipeline::Request{.weight = 0}};
    return sampler.requests(first, std::min(kAtOnce, count - first));
  };
  pipeline::Loader loader(
      *job.data.source.cache, load_options(job, eval_recipe(job.eval_resize_px), threads, 0),
      pipeline::make_planner(job.data.source.spread, comm.rank(), requests, job.recipe.seed));
  PatchSums sums(job.setup.options.channels, side_px);
  for (pipeline::Batch batch = loader.next(); batch.size() > 0;
       batch = loader.next(std::move(batch))) {
    const std::size_t bytes = batch.pixels.size() / batch.size();
    for (std::size_t i = 0; comm.rank() == 0 && i < batch.size(); ++i) {
      sums.add(std::span(batch.pixels).subspan(i * bytes, bytes), batch.height_px, batch.width_px);
    }
  }
  loader.settle();
  return sums;
}

}  // namespace

void whiten(Model& model, const Job& job, int threads, comm::Communicator& comm) {
  for (const Value& value : job.forward.values) {
    if (value.init != Init::kWhitening) continue;
    const PatchSums sums = sum_patches(job, threads, comm, static_cast<int>(value.shape.back()));
    std::vector<float> filters(static_cast<std::size_t>(element_count(value.shape)));
    if (comm.rank() == 0) {
      std::vector<float> made = whitening_filters(
          sums, {.mean = job.setup.options.mean, .stddev = job.setup.options.stddev});
      if (made.size() != filters.size()) throw Error(value.name + " cannot whiten images");
      filters = std::move(made);
    }
    comm.broadcast(std::as_writable_bytes(std::span(filters)), 0);
    const auto held = std::ranges::find(model.tensors, value.name,
                                        [](const Model::Tensor& t) { return t.about.name; });
    // in place, because weights of the run are views of it
    if (held != model.tensors.end()) std::ranges::copy(filters, held->data.begin());
  }
}

void complete_weights(Model& model, const Job& job, const StartOptions& start, int threads,
                      comm::Communicator& comm) {
  if (start.init_from.empty()) whiten(model, job, threads, comm);
  begin_averages(model, job.recipe.options);
}

}  // namespace winnow::train

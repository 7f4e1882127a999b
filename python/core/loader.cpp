#include "pipeline/load/loader.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <unistd.h>

#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "common/error.h"
#include "common/thread_plan.h"
#include "pipeline/load/dataset.h"
#include "pipeline/load/exchange.h"
#include "pipeline/load/sampler.h"
#include "pipeline/store/cache.h"
#include "python/core/batch.h"
#include "python/core/bind.h"
#include "python/core/loading.h"
#include "train/plan/batch_layout.h"

namespace winnow::python {
namespace nb = nanobind;

namespace {

// The training samples of a cache in the order of a seed, cut into global batches: what `winnow
// train` has before it knows of ranks.
struct Stream {
  std::shared_ptr<const pipeline::Cache> cache;
  pipeline::DatasetInfo info;
  std::string selection_digest;
  std::shared_ptr<const pipeline::Sampler> sampler;
  train::BatchLayout batches;
  std::uint64_t seed = 0;
  pid_t process = ::getpid();
};

// Throws UsageError in another process than the one that began something.
void check_process(pid_t begun_in) {
  if (begun_in == ::getpid()) return;
  throw UsageError(
      "this loader was begun before the process was forked, and its threads stayed behind; make "
      "one "
      "in the process that uses it");
}

struct StreamOptions {
  std::filesystem::path cache;
  std::string split;
  std::string selection;
  pipeline::SamplingOptions sampling;
  std::uint64_t seed = 0;
  std::int64_t batch = 0;
  std::int64_t micro_batch = 0;
};

Stream open_stream(const StreamOptions& o) {
  Stream stream;
  stream.cache = pipeline::open_cache(o.cache);
  stream.info = pipeline::describe(*stream.cache);
  stream.seed = o.seed;
  const auto split = parse_split(o.split);
  if (!split)
    throw UsageError("there is no split '" + o.split + "'; take none, train, val or test");
  pipeline::SampleSet samples = pipeline::select_samples(*stream.cache, *split, o.selection);
  stream.selection_digest = pipeline::selection_digest(*stream.cache, o.selection);
  pipeline::SamplingOptions sampling = o.sampling;
  sampling.shuffle.batch = static_cast<std::uint64_t>(o.batch);
  const bool by_class = sampling.sampling == pipeline::Sampling::kBalanced ||
                        sampling.sampling == pipeline::Sampling::kRepeatFactor;
  const pipeline::SampleLabels labels =
      by_class ? pipeline::read_labels(*stream.cache, samples.ids) : pipeline::SampleLabels{};
  stream.sampler =
      std::make_shared<const pipeline::Sampler>(std::move(samples), o.seed, sampling, labels);
  // Of one rank and one epoch: a stream has neither, and no end.
  stream.batches = train::plan_batches(static_cast<std::int64_t>(stream.sampler->epoch_size()),
                                       o.batch, o.micro_batch, 1, 0, 1);
  stream.batches.total_steps = std::numeric_limits<std::int64_t>::max();
  return stream;
}

// Which part of each batch one rank loads, and how.
struct Part {
  int rank = 0;
  int ranks = 1;
  int local_ranks = 1;  // on this machine
  std::string augment = "none";
  int height_px = 0;  // 0: of the images
  int width_px = 0;
  int threads = 0;  // 0: all that this process may use
  int ahead = 2;
};

pipeline::LoadOptions load_options(const Stream& stream, const Part& part,
                                   std::int64_t first_step) {
  ThreadPlanInputs threads = detect_threads(part.ranks, part.local_ranks);
  threads.requested = part.threads;
  return {.geometry =
              geometry_of(stream.info, part.height_px, part.width_px, stream.cache->paths().root),
          .recipe = pipeline::parse_recipe(part.augment),
          .seed = stream.seed,
          .threads = plan_threads(threads).decode,
          .batches_ahead = part.ahead,
          .levels = levels_of(stream.info),
          .first_batch = static_cast<std::uint64_t>(first_step)};
}

// The batches of one rank from a step on, without end, as far as they are asked for.
//
// Threads  any; one at a time loads
// Fork     threads do not come along: a child is refused, and leaves what the parent has alone
class Batches {
 public:
  Batches(std::shared_ptr<const Stream> stream, const Part& part, std::int64_t first_step)
      : stream_(std::move(stream)),
        layout_(train::part_of(stream_->batches, checked(part, *stream_), part.ranks)),
        step_(first_step),
        loader_(std::make_unique<pipeline::Loader>(*stream_->cache,
                                                   load_options(*stream_, part, first_step),
                                                   planner(*stream_, layout_, part, first_step))) {}
  ~Batches() {
    if (stream_->process != ::getpid()) [[maybe_unused]]
      auto* left_to_parent = loader_.release();
  }

  std::unique_ptr<HeldBatch> next() {
    check_process(stream_->process);
    const std::lock_guard one(loading_);
    pipeline::Batch batch = loader_->next(used_->take());
    const std::int64_t begin = step_++ * layout_.batch + layout_.first_micro * layout_.micro_batch;
    return std::make_unique<HeldBatch>(std::move(batch), static_cast<std::uint64_t>(begin), used_);
  }
  double waited_seconds() const { return loader_->waited_seconds(); }

 private:
  static int checked(const Part& part, const Stream& stream) {
    check_process(stream.process);
    const train::BatchLayout& batches = stream.batches;
    const std::int64_t parts = batches.batch / batches.micro_batch;
    if (part.ranks > parts) {
      throw UsageError("there are more ranks (" + std::to_string(part.ranks) +
                       ") than parts of a batch (" + std::to_string(parts) +
                       "); take a larger batch_size or a smaller micro_batch");
    }
    return part.rank;
  }
  static std::shared_ptr<pipeline::Planner> planner(const Stream& stream,
                                                    const train::BatchLayout& layout,
                                                    const Part& part, std::int64_t first_step) {
    const bool mixed = pipeline::mixes(pipeline::parse_recipe(part.augment));
    const auto requests = [sampler = stream.sampler, layout, first_step, mixed](int /*rank*/,
                                                                                std::uint64_t i) {
      return train::requests_of(layout, *sampler, first_step + static_cast<std::int64_t>(i), mixed);
    };
    return pipeline::make_planner(nullptr, part.rank, requests, stream.seed);
  }

  std::shared_ptr<const Stream> stream_;
  train::BatchLayout layout_;
  std::int64_t step_;  // that next() gives
  std::shared_ptr<UsedBatches> used_ = std::make_shared<UsedBatches>();
  std::mutex loading_;
  std::unique_ptr<pipeline::Loader> loader_;
};

void bind_stream(nb::module_& core) {
  nb::class_<pipeline::SamplingOptions>(core, "SamplingOptions")
      .def(nb::new_([](const std::string& sampling, double repeat_threshold, double fraction,
                       int partitions) {
             return pipeline::SamplingOptions{
                 .sampling = pipeline::parse_sampling(sampling),
                 .repeat_threshold = repeat_threshold,
                 .shuffle = {.fraction = fraction, .partitions = partitions}};
           }),
           nb::arg("sampling"), nb::arg("repeat_threshold"), nb::arg("shuffle_fraction"),
           nb::arg("partitions"));
  nb::class_<Stream>(core, "Stream")
      .def(nb::new_([](std::filesystem::path cache, std::string split, std::string selection,
                       const pipeline::SamplingOptions& sampling, std::uint64_t seed,
                       std::int64_t batch_size, std::int64_t micro_batch) {
             const nb::gil_scoped_release others_go_on;
             return std::make_shared<Stream>(open_stream({.cache = std::move(cache),
                                                          .split = std::move(split),
                                                          .selection = std::move(selection),
                                                          .sampling = sampling,
                                                          .seed = seed,
                                                          .batch = batch_size,
                                                          .micro_batch = micro_batch}));
           }),
           nb::arg("cache"), nb::arg("split"), nb::arg("selection"), nb::arg("sampling"),
           nb::arg("seed"), nb::arg("batch_size"), nb::arg("micro_batch"))
      .def_prop_ro("samples", [](const Stream& s) { return s.batches.samples; })
      .def_prop_ro("cache_digest", [](const Stream& s) { return s.info.digest; })
      .def_ro("selection_digest", &Stream::selection_digest)
      .def(
          "end_of_epoch",
          [](const Stream& s, std::int64_t epoch) { return s.batches.end_of_epoch(epoch); },
          nb::arg("epoch"))
      .def(
          "weight_of_batch",
          [](const Stream& s, std::int64_t step) {
            return train::weight_of_batch(s.batches, *s.sampler, step);
          },
          nb::arg("step"));
}

}  // namespace

void bind_loader(nb::module_& core) {
  bind_stream(core);
  nb::class_<Batches>(core, "Batches")
      .def(nb::new_([](std::shared_ptr<Stream> stream, std::int64_t first_step, int rank, int ranks,
                       int local_ranks, std::string augment, int height_px, int width_px,
                       int threads, int ahead) {
             const nb::gil_scoped_release others_go_on;
             return std::make_unique<Batches>(std::move(stream),
                                              Part{.rank = rank,
                                                   .ranks = ranks,
                                                   .local_ranks = local_ranks,
                                                   .augment = std::move(augment),
                                                   .height_px = height_px,
                                                   .width_px = width_px,
                                                   .threads = threads,
                                                   .ahead = ahead},
                                              first_step);
           }),
           nb::arg("stream"), nb::arg("first_step"), nb::arg("rank"), nb::arg("ranks"),
           nb::arg("local_ranks"), nb::arg("augment"), nb::arg("height_px"), nb::arg("width_px"),
           nb::arg("threads"), nb::arg("ahead"))
      .def("next", &Batches::next, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("waited_seconds", &Batches::waited_seconds);
}

}  // namespace winnow::python

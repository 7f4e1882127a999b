#include "pipeline/load/loader.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/bytes.h"
#include "common/checksum.h"
#include "common/error.h"
#include "common/thread_plan.h"
#include "pipeline/load/class_weights.h"
#include "pipeline/load/dataset.h"
#include "pipeline/load/exchange.h"
#include "pipeline/load/order.h"
#include "pipeline/load/sampler.h"
#include "pipeline/store/cache.h"
#include "python/core/arrays.h"
#include "python/core/batch.h"
#include "python/core/bind.h"
#include "python/core/loading.h"
#include "python/core/open_cache.h"
#include "python/core/placed_cache.h"
#include "train/plan/batch_layout.h"

namespace winnow::python {
namespace nb = nanobind;

namespace {

// The training samples of a cache in the order of a seed, divided into global batches: the state of
// `winnow train` before ranks matter.
struct Stream {
  std::shared_ptr<const pipeline::Cache> cache;
  std::shared_ptr<const pipeline::Spread> spread;  // null: this machine holds all
  pipeline::DatasetInfo info;
  std::string selection_digest;
  std::shared_ptr<const pipeline::Sampler> sampler;
  train::BatchLayout batches;
  std::uint64_t seed = 0;
  pid_t process = ::getpid();
};

// Throws UsageError if called in another process than the one that began.
void check_process(pid_t begun_in) {
  if (begun_in == ::getpid()) return;
  throw UsageError(
      "this loader was made before the process forked, and its threads are in the other process; "
      "make a loader in the process that uses it");
}

struct StreamOptions {
  PlacedCache placed;
  std::string split;
  std::string selection;
  pipeline::SamplingOptions sampling;
  std::uint64_t seed = 0;
  std::int64_t batch = 0;
  std::int64_t micro_batch = 0;
  pipeline::ClassWeights class_weights;
};

// Applies class_weights; a class of weight 0 is left out.
pipeline::SampleSet weighed(const StreamOptions& o, const Stream& stream,
                            pipeline::SampleSet samples) {
  if (o.class_weights.none()) return samples;
  if (o.sampling.sampling == pipeline::Sampling::kWeighted) {
    throw UsageError(
        "sampling weighted draws samples by their weights, and the loss does not use them again; "
        "leave out class_weights, or use another sampling");
  }
  const pipeline::SampleLabels labels = pipeline::read_labels(*stream.cache, samples.ids);
  return pipeline::weigh_classes(
      samples, labels, pipeline::class_factors(o.class_weights, labels, stream.info.classes));
}

Stream open_stream(const StreamOptions& o) {
  Stream stream;
  stream.cache = o.placed.cache;
  stream.spread = o.placed.spread;
  stream.info = pipeline::describe(*stream.cache);
  stream.seed = o.seed;
  pipeline::SampleSet samples =
      weighed(o, stream, pipeline::select_samples(*stream.cache, split_of(o.split), o.selection));
  stream.selection_digest = pipeline::selection_digest(*stream.cache, o.selection);
  pipeline::SamplingOptions sampling = o.sampling;
  sampling.shuffle.batch = static_cast<std::uint64_t>(o.batch);
  const bool by_class = sampling.sampling == pipeline::Sampling::kBalanced ||
                        sampling.sampling == pipeline::Sampling::kRepeatFactor;
  const pipeline::SampleLabels labels =
      by_class ? pipeline::read_labels(*stream.cache, samples.ids) : pipeline::SampleLabels{};
  stream.sampler =
      std::make_shared<const pipeline::Sampler>(std::move(samples), o.seed, sampling, labels);
  // Planned for one rank and one epoch, because a stream has no ranks and no end.
  stream.batches = train::plan_batches(static_cast<std::int64_t>(stream.sampler->epoch_size()),
                                       o.batch, o.micro_batch, 1, {0, 1});
  stream.batches.total_steps = std::numeric_limits<std::int64_t>::max();
  return stream;
}

// The part of each batch that one rank loads.
struct Part {
  int rank = 0;
  int ranks = 1;
  int local_ranks = 1;  // on this machine
  std::string augment = "none";
  int height_px = 0;  // 0: as the images
  int width_px = 0;
  int threads = 0;  // 0: all that this process may use
  int ahead = 2;
};

pipeline::LoadOptions load_options(const pipeline::Cache& cache, const Part& part,
                                   std::uint64_t seed) {
  ThreadPlanInputs threads = detect_threads(part.ranks, part.local_ranks);
  threads.requested = part.threads;
  const pipeline::DatasetInfo info = pipeline::describe(cache);
  return {.geometry = geometry_of(info, part.height_px, part.width_px, cache.paths().root),
          .recipe = pipeline::parse_recipe(part.augment),
          .seed = seed,
          .threads = plan_threads(threads).decode,
          .batches_ahead = part.ahead,
          .data = {.levels = levels_of(info)}};
}

// The positions of a batch's samples in the stream.
struct Positions {
  std::int64_t first = 0;   // position of the first batch's first sample
  std::int64_t stride = 0;  // from batch to batch
};

// Batches of one rank, prepared ahead.
//
// Threads  Any; one at a time loads.
// Fork     Threads do not survive a fork: a child gets an error, and leaves the parent's state
//          alone.
class Batches {
 public:
  Batches(std::shared_ptr<const pipeline::Cache> cache, const pipeline::LoadOptions& options,
          std::shared_ptr<pipeline::Planner> planner, const Positions& positions)
      : cache_(std::move(cache)),
        positions_(positions),
        planner_(std::move(planner)),
        loader_(std::make_unique<pipeline::Loader>(*cache_, options, planner_)) {}
  // Called with the interpreter's lock held.
  ~Batches() {
    if (process_ != ::getpid()) {
      [[maybe_unused]] const auto* left_to_parent = loader_.release();
      return;
    }
    // Its threads may need the lock, so do not hold it while waiting for them.
    const nb::gil_scoped_release its_threads_may_have_it;
    loader_.reset();
    planner_.reset();
  }

  // At the end returns a batch without samples, repeatedly.
  std::unique_ptr<HeldBatch> next() {
    check_process(process_);
    const std::lock_guard one(loading_);
    pipeline::Batch batch = loader_->next(used_->take());
    const auto begin = static_cast<std::uint64_t>(positions_.first);
    positions_.first += positions_.stride;
    return std::make_unique<HeldBatch>(std::move(batch), begin, used_);
  }
  // The same, called with the interpreter's lock held, for a loader that may wait for other ranks.
  // Ctrl-C ends the waiting; afterwards this object can only be destroyed.
  std::unique_ptr<HeldBatch> next_or_interrupt() {
    constexpr std::chrono::milliseconds kLook{50};
    auto batch = std::async(std::launch::async, [this] { return next(); });
    while (true) {
      {
        const nb::gil_scoped_release others_go_on;
        if (batch.wait_for(kLook) == std::future_status::ready) return batch.get();
      }
      if (PyErr_CheckSignals() == 0) continue;
      const nb::python_error interrupt;
      {
        const nb::gil_scoped_release others_go_on;
        planner_->stop();
        batch.wait();
      }
      throw interrupt;
    }
  }
  double waited_seconds() const { return loader_->waited_seconds(); }
  std::uint64_t received_bytes() const { return loader_->received_bytes(); }
  // As Loader::settle(). If machines exchange samples, call it before another loader begins:
  // collective. Does nothing in a child process.
  void settle() {
    if (process_ != ::getpid()) return;
    const std::lock_guard one(loading_);
    loader_->settle();
  }

 private:
  std::shared_ptr<const pipeline::Cache> cache_;
  Positions positions_;
  pid_t process_ = ::getpid();
  std::shared_ptr<UsedBatches> used_ = std::make_shared<UsedBatches>();
  std::mutex loading_;
  std::shared_ptr<pipeline::Planner> planner_;
  std::unique_ptr<pipeline::Loader> loader_;
};

// This rank's batches of a stream from a step on, without end.
std::unique_ptr<Batches> batches_of(const Stream& stream, const Part& part,
                                    std::int64_t first_step) {
  check_process(stream.process);
  const std::int64_t parts = stream.batches.batch / stream.batches.micro_batch;
  if (part.ranks > parts) {
    throw UsageError("there are more ranks (" + std::to_string(part.ranks) +
                     ") than parts of a batch (" + std::to_string(parts) +
                     "); use a larger batch_size or a smaller micro_batch");
  }
  const auto layout_of = [batches = stream.batches, ranks = part.ranks](int rank) {
    return train::part_of(batches, rank, ranks);
  };
  const train::BatchLayout layout = layout_of(part.rank);
  pipeline::LoadOptions options = load_options(*stream.cache, part, stream.seed);
  options.first_batch = static_cast<std::uint64_t>(first_step);
  const auto requests = [sampler = stream.sampler, layout_of, first_step,
                         mixed = pipeline::mixes(options.recipe)](int rank, std::uint64_t i) {
    return train::requests_of(layout_of(rank), *sampler, first_step + static_cast<std::int64_t>(i),
                              mixed);
  };
  return std::make_unique<Batches>(
      stream.cache, options,
      pipeline::make_planner(stream.spread, part.rank, requests, stream.seed),
      Positions{first_step * layout.batch + layout.first_micro * layout.micro_batch, layout.batch});
}

// The samples at positions [begin, begin + count) of a stream: ids, number of earlier occurrences,
// and loss weights.
nb::tuple draws(const Stream& stream, std::uint64_t begin, std::uint64_t count) {
  const std::vector<pipeline::Request> requests = stream.sampler->requests(begin, count);
  std::vector<SampleId> ids;
  std::vector<std::uint32_t> turns;
  std::vector<float> weights;
  for (const pipeline::Request& request : requests) {
    ids.push_back(request.id);
    turns.push_back(request.epoch);
    weights.push_back(request.weight);
  }
  return nb::make_tuple(array_of(std::move(ids)), array_of(std::move(turns)),
                        array_of(std::move(weights)));
}

// Samples to be loaded once each, in order of their ids.
struct Once {
  std::shared_ptr<const pipeline::Cache> cache;
  std::shared_ptr<const std::vector<SampleId>> ids;
  std::vector<SampleId> leaked;
};

Once open_once(const PlacedCache& from, const std::string& split, const std::string& selection) {
  pipeline::EvaluationSamples samples =
      pipeline::evaluation_samples(*from.cache, split_of(split), selection);
  if (samples.all.ids.empty()) {
    throw UsageError(from.root.string() + " has no samples of split " + split +
                     "; winnow info shows what there is");
  }
  return {from.cache, std::make_shared<const std::vector<SampleId>>(std::move(samples.all.ids)),
          std::move(samples.leaked)};
}

// One contiguous range of them for each rank, in batches of `batch`; the last may be short.
std::unique_ptr<Batches> batches_of(const Once& once, const Part& part, std::int64_t batch) {
  if (batch < 1) throw UsageError("a batch must have at least one sample");
  const auto [first, last] =
      pipeline::share(static_cast<std::int64_t>(once.ids->size()), part.rank, part.ranks);
  const auto requests = [ids = once.ids, first = first, last = last, batch](int /*rank*/,
                                                                            std::uint64_t i) {
    const std::int64_t begin = std::min(last, first + static_cast<std::int64_t>(i) * batch);
    std::vector<pipeline::Request> some;
    for (std::int64_t at = begin; at < std::min(last, begin + batch); ++at) {
      some.push_back({.id = (*ids)[static_cast<std::size_t>(at)]});
    }
    return some;
  };
  constexpr std::uint64_t kSeed = 0;  // evaluation draws no random numbers
  return std::make_unique<Batches>(once.cache, load_options(*once.cache, part, kSeed),
                                   pipeline::make_planner(nullptr, part.rank, requests, kSeed),
                                   Positions{first, batch});
}

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
  nb::class_<pipeline::ClassWeights>(core, "ClassWeights")
      .def(nb::new_([](const std::string& text, std::map<std::string, double> of) {
             pipeline::ClassWeights weights =
                 text.empty() ? pipeline::ClassWeights{} : pipeline::parse_class_weights(text);
             if (text.empty()) weights.of = std::move(of);
             return weights;
           }),
           nb::arg("text"), nb::arg("of"));
  nb::class_<Stream>(core, "Stream")
      .def(nb::new_([](const PlacedCache& cache, std::string split, std::string selection,
                       const pipeline::SamplingOptions& sampling, std::uint64_t seed,
                       std::int64_t batch_size, std::int64_t micro_batch,
                       const pipeline::ClassWeights& class_weights) {
             const nb::gil_scoped_release others_go_on;
             return std::make_shared<Stream>(open_stream({.placed = cache,
                                                          .split = std::move(split),
                                                          .selection = std::move(selection),
                                                          .sampling = sampling,
                                                          .seed = seed,
                                                          .batch = batch_size,
                                                          .micro_batch = micro_batch,
                                                          .class_weights = class_weights}));
           }),
           nb::arg("cache"), nb::arg("split"), nb::arg("selection"), nb::arg("sampling"),
           nb::arg("seed"), nb::arg("batch_size"), nb::arg("micro_batch"), nb::arg("class_weights"))
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
          nb::arg("step"))
      .def("draws", &draws, nb::arg("begin"), nb::arg("count"));
}

// The sum, modulo 2^64, of the XXH3-64 of each id, as in a run's census.json.
std::uint64_t census_hash(const nb::ndarray<const SampleId, nb::ndim<1>, nb::c_contig>& ids) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    sum += xxh3_64(std::as_bytes(std::span(ids.data() + i, 1)));
  }
  return sum;
}

void bind_once(nb::module_& core) {
  nb::class_<Once>(core, "Once")
      .def(nb::new_([](const PlacedCache& cache, const std::string& split,
                       const std::string& selection) {
             const nb::gil_scoped_release others_go_on;
             return std::make_shared<Once>(open_once(cache, split, selection));
           }),
           nb::arg("cache"), nb::arg("split"), nb::arg("selection"))
      .def_prop_ro("samples", [](const Once& once) { return once.ids->size(); })
      .def_prop_ro("leaked", [](nb::handle self) {
        return column_view(nb::inst_ptr<Once>(self)->leaked, self);
      });
}

}  // namespace

void bind_loader(nb::module_& core) {
  bind_stream(core);
  bind_once(core);
  nb::class_<Part>(core, "Part")
      .def(nb::new_([](int rank, int ranks, int local_ranks, std::string augment, int height_px,
                       int width_px, int threads, int ahead) {
             return Part{.rank = rank,
                         .ranks = ranks,
                         .local_ranks = local_ranks,
                         .augment = std::move(augment),
                         .height_px = height_px,
                         .width_px = width_px,
                         .threads = threads,
                         .ahead = ahead};
           }),
           nb::arg("rank"), nb::arg("ranks"), nb::arg("local_ranks"), nb::arg("augment"),
           nb::arg("height_px"), nb::arg("width_px"), nb::arg("threads"), nb::arg("ahead"));
  nb::class_<Batches>(core, "Batches")
      .def("next", &Batches::next, nb::call_guard<nb::gil_scoped_release>())
      .def("next_or_interrupt", &Batches::next_or_interrupt)
      .def("settle", &Batches::settle, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("waited_seconds", &Batches::waited_seconds)
      .def_prop_ro("received_bytes", &Batches::received_bytes);
  core.def("census_hash", &census_hash, nb::arg("ids"));
  core.def(
      "batches_of_stream",
      [](const Stream& stream, const Part& part, std::int64_t first_step) {
        return batches_of(stream, part, first_step);
      },
      nb::arg("stream"), nb::arg("part"), nb::arg("first_step"),
      nb::call_guard<nb::gil_scoped_release>());
  core.def(
      "batches_once",
      [](const Once& once, const Part& part, std::int64_t batch_size) {
        return batches_of(once, part, batch_size);
      },
      nb::arg("once"), nb::arg("part"), nb::arg("batch_size"),
      nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace winnow::python

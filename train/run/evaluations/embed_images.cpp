#include "train/run/evaluations/embed_images.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "common/error.h"
#include "train/backend/backend.h"
#include "train/backend/weights.h"
#include "train/evaluate/micro_batches.h"
#include "train/model/digest.h"
#include "train/rewrites/for_features.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train {
namespace {

// A net with its weights.
struct Embedder {
  StoredConfig config;
  Model model;
  Embedded about;
};

Embedder stored_run(const EmbedOptions& options, const std::function<void(std::string)>& note) {
  if (!options.file.net.name.empty() || options.file.image_side_px > 0 ||
      options.file.eval_resize_px) {
    throw UsageError(options.source.string() +
                     " is a run, which knows its net and image size; leave out --net, --image-size "
                     "and --eval-resize");
  }
  StoredRun run = load_run(options.source, options.checkpoint, note);
  return {std::move(run.config),
          std::move(run.model),
          {.net = {}, .checkpoint = std::move(run.checkpoint), .ema = run.ema, .digest = {}}};
}

Embedder stored_weights(const EmbedOptions& options, pipeline::DatasetInfo info) {
  if (!options.checkpoint.name.empty() || options.checkpoint.ema) {
    throw UsageError(
        options.source.string() +
        " is a file of weights, which has no checkpoints; leave out --checkpoint and --ema");
  }
  if (info.classes.empty()) info.classes = {"any"};  // its classifier is not used
  StoredWeights stored =
      load_weights(options.source, options.file, options.cache, info, FileUse::kFeatures);
  return {std::move(stored.config), std::move(stored.model), {}};
}

// Fills tensors that nothing reads: a classifier that keeps its initial values may have no numbers.
void fill_what_nothing_reads(Model& model) {
  for (Model::Tensor& tensor : model.tensors) {
    tensor.data.resize(static_cast<std::size_t>(element_count(tensor.about.shape)));
  }
}

// Small enough for a lane on each core, large enough for fast kernels.
std::int64_t micro_batch_for(const NetOptions& net) {
  const std::int64_t pixels = std::int64_t{net.height_px} * net.width_px;
  return std::clamp<std::int64_t>((std::int64_t{1} << 20) / pixels / 16 * 16, 16, 128);
}

std::vector<SampleId> ids_of_all(const pipeline::Cache& cache) {
  std::vector<SampleId> ids;
  for (const Split split : {Split::kNone, Split::kTrain, Split::kVal, Split::kTest}) {
    const auto of_split = pipeline::evaluation_samples(cache, split, "").all.ids;
    ids.insert(ids.end(), of_split.begin(), of_split.end());
  }
  std::ranges::sort(ids);
  return ids;
}

// A program with its input and output.
struct Lane {
  explicit Lane(Program& of)
      : program(of),
        pixels(of.graph().find("pixels")),
        output(of.graph().outputs.front().value),
        values(static_cast<std::size_t>(element_count(of.graph().value(output).shape))) {
    program.bind(output, std::span(values));
  }

  void compute(pipeline::Batch& batch) {
    const std::size_t nodes = program.graph().nodes.size();
    program.bind(pixels, std::span(batch.pixels));
    program.run(0, nodes);
    program.wait(nodes);
  }
  std::vector<float> vector_of(std::size_t sample) const {
    return features_of(program.graph().value(output).shape, values, sample);
  }

  Program& program;
  ValueId pixels;
  ValueId output;
  std::vector<float> values;
};

// Passes on what lanes computed, in the order of the samples.
class InOrder {
 public:
  InOrder(const std::vector<SampleId>& ids, std::size_t micro_batch, const TakeFeatures& take)
      : ids_(ids), micro_batch_(micro_batch), take_(take) {}

  void put(const Lane& lane, std::int64_t micro) {
    const std::size_t first = static_cast<std::size_t>(micro) * micro_batch_;
    std::vector<std::vector<float>> vectors;
    for (std::size_t i = 0; i < micro_batch_ && first + i < ids_.size(); ++i) {
      vectors.push_back(lane.vector_of(i));
    }
    const std::lock_guard lock(mutex_);
    waiting_.emplace(first, std::move(vectors));
    while (!waiting_.empty() && waiting_.begin()->first == next_) {
      for (const std::vector<float>& vector : waiting_.begin()->second)
        take_(ids_[next_++], vector);
      waiting_.erase(waiting_.begin());
    }
  }

 private:
  const std::vector<SampleId>& ids_;
  std::size_t micro_batch_;
  const TakeFeatures& take_;
  std::mutex mutex_;                                                // guards the following members
  std::map<std::size_t, std::vector<std::vector<float>>> waiting_;  // by their first sample
  std::size_t next_ = 0;
};

// One lane with one thread for each core, because the number of threads of a lane would affect the
// bits.
std::vector<std::unique_ptr<Program>> compile(const EmbedOptions& options, Backend& backend,
                                              const Graph& graph, std::int64_t micro_batches) {
  const std::int64_t lanes =
      backend.is_on_cpu() ? std::clamp<std::int64_t>(micro_batches, 1, options.threads.compute) : 1;
  return backend.compile_lanes(graph, {options.dtype, 1}, static_cast<int>(lanes));
}

}  // namespace

Embedded embed_images(const EmbedOptions& options, comm::Communicator& comm,
                      const TakeFeatures& take, const ProgressSink& progress,
                      const std::function<void(std::string)>& note) {
  const auto begin = std::chrono::steady_clock::now();
  const auto cache = pipeline::open_cache(options.cache, options.placement);
  const bool is_file = std::filesystem::is_regular_file(options.source);
  Embedder net =
      is_file ? stored_weights(options, pipeline::describe(*cache)) : stored_run(options, note);
  net.about.net = net.config.setup.net.name;
  net.about.digest = digest_of(net.model);
  fill_what_nothing_reads(net.model);
  NetSetup& setup = net.config.setup;
  setup.options.batch = micro_batch_for(setup.options) / views_of(setup);
  const Graph graph = for_features(for_inference(forward_graph(setup)));

  const pipeline::SampleSet samples = pipeline::SampleSet{ids_of_all(*cache), {}};
  const Shares shares{
      samples.size(), static_cast<std::size_t>(graph.value(graph.find("pixels")).shape[0]), {{1}}};
  const auto backend = make_backend(options.backend, {.device = comm.local_rank()});
  const auto weights = place_weights(*backend, net.model);
  const auto programs = compile(options, *backend, graph, shares.micro_batches());
  std::vector<Lane> lanes;
  for (const std::unique_ptr<Program>& program : programs) {
    weights->bind(*program);
    lanes.emplace_back(*program);
  }
  weights->load();
  programs.front()->load_parameters();  // for all lanes
  InOrder in_order(samples.ids, shares.micro_batch, take);
  const pipeline::Source source{cache, pipeline::spread(*cache, comm, options.placement)};
  for_each_micro_batch(
      {source, samples, shares, "embedding"},
      {.geometry = geometry_of(net.config.setup),
       .recipe = eval_recipe(net.config.eval_resize_px),
       .threads = options.threads.decode},
      comm, lanes.size(),
      [&](std::size_t lane, pipeline::Batch& batch, const Turn& turn) {
        lanes[lane].compute(batch);
        in_order.put(lanes[lane], turn.micro);
      },
      progress);
  net.about.images = samples.size();
  net.about.images_per_second =
      static_cast<double>(samples.size()) /
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return net.about;
}

}  // namespace winnow::train

#include <chrono>
#include <unordered_map>

#include "common/file.h"
#include "train/backend/backend.h"
#include "train/checkpoint/checkpoint.h"
#include "train/graph/rewrites.h"
#include "train/run/agreement.h"
#include "train/run/evaluate.h"
#include "train/run/setup.h"
#include "train/run/train.h"

namespace winnow::train {
namespace {

Split choose_split(const EvalOptions& options, const pipeline::DatasetInfo& info) {
  if (!options.split.empty()) {
    const auto split = parse_split(options.split);
    if (!split) {
      throw UsageError("unknown split '" + options.split + "'; known: train, val, test, none");
    }
    return *split;
  }
  for (const Split split : {Split::kTest, Split::kVal}) {
    if (info.split_counts[static_cast<std::size_t>(split)] > 0) return split;
  }
  throw UsageError("the cache has neither a test nor a val split; name one by --split");
}

}  // namespace

EvalResult evaluate_run(const EvalOptions& options, comm::Communicator& comm,
                        const ProgressSink& progress) {
  std::shared_ptr<const pipeline::Cache> cache;
  StoredConfig stored;
  Checkpoint checkpoint;
  pipeline::SampleSet samples;
  std::vector<SampleId> leaked;
  EvalResult result;
  std::string selection;
  on_all(comm, [&] {
    const std::filesystem::path config = options.run / "config.json";
    if (!std::filesystem::exists(config)) {
      throw UsageError(options.run.string() + " holds no run; make one by winnow train");
    }
    stored = parse_config(read_text(config), config.string());
    const auto newest = newest_checkpoint(options.run / "checkpoints");
    if (!newest) {
      throw UsageError(options.run.string() + " has no complete checkpoint yet; train it further");
    }
    checkpoint = load_checkpoint(*newest);
    cache = pipeline::open_cache(options.cache);
    const pipeline::DatasetInfo info = pipeline::describe(*cache);
    if (static_cast<int>(info.classes.size()) != stored.setup.options.classes) {
      throw UsageError("the run was trained for " + std::to_string(stored.setup.options.classes) +
                       " classes, the cache has " + std::to_string(info.classes.size()));
    }
    const Split split = choose_split(options, info);
    selection = options.selection;
    if (selection.empty() && stored.cache_digest == info.digest) selection = stored.selection;
    samples = pipeline::select_samples(*cache, split, "");
    leaked = pipeline::leaked_samples(*cache, split, selection);
    result.split = std::string(split_name(split));
    result.classes = info.classes;
  });

  const Graph graph = for_inference(forward_graph(stored.setup));
  const std::unique_ptr<Program> program =
      make_backend(options.backend)->compile(graph, {options.dtype, options.threads.compute});
  Model model = make_model(graph, 0);
  load_state_dict(model, checkpoint.model, options.run.string());
  bind_model(*program, model);
  program->load_parameters();

  const auto begin = std::chrono::steady_clock::now();
  Evaluation e = evaluate(
      *program, *cache, samples, selection.empty() ? nullptr : &leaked,
      {.geometry = geometry_of(stored.setup), .threads = options.threads.decode}, comm, progress);
  result.images_per_second =
      static_cast<double>(e.samples) /
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.epoch = checkpoint_epoch(checkpoint.state);
  result.loss = e.loss;
  result.top1 = e.top1;
  result.top1_leak_free = e.top1_leak_free;
  result.samples = e.samples;
  result.leaked = e.leaked;
  result.ids = samples.ids;
  result.labels = std::move(e.labels);
  result.predictions = std::move(e.predictions);
  return result;
}

}  // namespace winnow::train

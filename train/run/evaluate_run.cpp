#include <chrono>
#include <filesystem>

#include "common/comm/agreement.h"
#include "common/file.h"
#include "train/backend/backend.h"
#include "train/checkpoint/checkpoint.h"
#include "train/rewrites/rewrites.h"
#include "train/evaluate/evaluate.h"
#include "train/model/initial_weights.h"
#include "train/run/run_state.h"
#include "train/run/setup.h"
#include "train/model/state_dict.h"
#include "train/run/train.h"

namespace winnow::train {
namespace {

// The split that is asked for, and its samples; else the first of test and val that has any.
std::pair<Split, pipeline::EvaluationSamples> choose_split(const EvalOptions& options,
                                                           const pipeline::Cache& cache,
                                                           const std::string& selection) {
  std::vector<Split> splits{Split::kTest, Split::kVal};
  if (!options.split.empty()) {
    const auto split = parse_split(options.split);
    if (!split) {
      throw UsageError("unknown split '" + options.split + "'; known: train, val, test, none");
    }
    splits = {*split};
  }
  for (const Split split : splits) {
    auto samples = pipeline::evaluation_samples(cache, split, selection);
    if (samples.all.size() > 0) return {split, std::move(samples)};
  }
  throw UsageError(options.split.empty()
                       ? "the cache has neither a test nor a val split; name one by --split"
                       : "the cache has no samples of split " + options.split +
                             "; winnow info shows what there is");
}

// What is evaluated: a net with its numbers.
struct Subject {
  StoredConfig config;
  Graph graph;  // for inference
  Model model;
  std::optional<double> epoch;
};

Subject stored_run(const EvalOptions& options) {
  const std::filesystem::path config = options.run / "config.json";
  if (!std::filesystem::exists(config)) {
    throw UsageError(options.run.string() + " holds no run; make one by winnow train");
  }
  if (!options.net.empty() || options.image_side_px > 0 || options.eval_resize_px) {
    throw UsageError(options.run.string() +
                     " is a run and knows its net and image size; they are given for a file only");
  }
  Subject subject;
  subject.config = parse_config(read_text(config), config.string());
  const auto newest = newest_checkpoint(options.run / "checkpoints");
  if (!newest) {
    throw UsageError(options.run.string() + " has no complete checkpoint yet; train it further");
  }
  const Checkpoint checkpoint = load_checkpoint(*newest);
  subject.graph = for_inference(forward_graph(subject.config.setup));
  subject.model = make_model(subject.graph, 0);
  load_state_dict(subject.model, checkpoint.model, (*newest / "model.safetensors").string());
  subject.epoch = parse_state(checkpoint.state, (*newest / "state.json").string()).epoch;
  return subject;
}

Subject stored_weights(const EvalOptions& options, const pipeline::DatasetInfo& info) {
  const std::string file = options.run.string();
  if (options.net.empty())
    throw UsageError("say by --net which net the weights in " + file + " are of");
  TrainOptions fit;
  fit.net = options.net;
  fit.data.cache = options.cache;
  fit.data.image_side_px = options.image_side_px;
  Subject subject;
  fit.data.augment = pipeline::Recipe::kNone;
  fit.data.eval_resize_px = options.eval_resize_px;
  subject.config.setup = fit_net(fit, info);
  subject.config.eval_resize_px = eval_resize_of(fit.data, info, subject.config.setup);
  subject.graph = for_inference(forward_graph(subject.config.setup));
  subject.model = make_model(subject.graph, 0);
  const InitialWeights weights = load_initial_weights(subject.model, subject.graph, options.run);
  if (!weights.kept.empty()) {
    throw UsageError(file + " is for another number of classes than the " +
                     std::to_string(info.classes.size()) + " of the cache: see its " +
                     weights.kept.front());
  }
  return subject;
}

}  // namespace

EvalResult evaluate_run(const EvalOptions& options, comm::Communicator& comm,
                        const ProgressSink& progress) {
  std::unique_ptr<Backend> backend;
  on_all(comm, [&] { backend = make_backend(options.backend, {.device = comm.local_rank()}); });
  return evaluate_run(options, *backend, comm, progress);
}

EvalResult evaluate_run(const EvalOptions& options, Backend& backend, comm::Communicator& comm,
                        const ProgressSink& progress) {
  std::shared_ptr<const pipeline::Cache> cache;
  Subject subject;
  pipeline::SampleSet samples;
  std::vector<SampleId> leaked;
  EvalResult result;
  std::string selection = options.selection;
  on_all(comm, [&] {
    cache = pipeline::open_cache(options.cache, options.placement, comm.rank());
    const pipeline::DatasetInfo info = pipeline::describe(*cache);
    subject = std::filesystem::is_regular_file(options.run) ? stored_weights(options, info)
                                                            : stored_run(options);
    const StoredConfig& stored = subject.config;
    if (static_cast<int>(info.classes.size()) != stored.setup.options.classes) {
      throw UsageError("the run was trained for " + std::to_string(stored.setup.options.classes) +
                       " classes, the cache has " + std::to_string(info.classes.size()));
    }
    if (selection.empty() && stored.cache_digest == info.digest) {
      selection = stored.selection;
      // Another of that name may hold what was trained on for test.
      if (pipeline::selection_digest(*cache, selection) != stored.selection_digest) {
        throw UsageError("the run was trained with another selection '" + selection + "' than " +
                         options.cache.string() +
                         " has now; decide as then, or name a selection by --selection to evaluate "
                         "by it all the same");
      }
    }
    auto [split, chosen] = choose_split(options, *cache, selection);
    samples = std::move(chosen.all);
    leaked = std::move(chosen.leaked);
    result.split = std::string(split_name(split));
    result.classes = info.classes;
  });

  const std::unique_ptr<Weights> weights = place_weights(backend, subject.model);
  const std::unique_ptr<Program> program =
      backend.compile(subject.graph, {options.dtype, options.threads.compute});
  weights->bind(*program);
  weights->load();
  program->load_parameters();

  const pipeline::Source source{cache, pipeline::spread(*cache, comm, options.placement)};
  const auto begin = std::chrono::steady_clock::now();
  Evaluation e = evaluate(*program, source, samples, selection.empty() ? nullptr : &leaked,
                          {.geometry = geometry_of(subject.config.setup),
                           .recipe = eval_recipe(subject.config.eval_resize_px),
                           .threads = options.threads.decode},
                          comm, progress, options.with_logits);
  result.images_per_second =
      static_cast<double>(e.samples) /
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.epoch = subject.epoch;
  result.loss = e.loss;
  result.top1 = e.top1;
  result.top1_leak_free = e.top1_leak_free;
  result.samples = e.samples;
  result.leaked = e.leaked;
  result.ids = samples.ids;
  result.labels = std::move(e.labels);
  result.predictions = std::move(e.predictions);
  result.logits = std::move(e.logits);
  return result;
}

}  // namespace winnow::train

#include "train/run/evaluations/evaluate_run.h"

#include <chrono>
#include <filesystem>
#include <utility>
#include <vector>

#include "common/comm/agreement.h"
#include "common/counted.h"
#include "train/backend/backend.h"
#include "train/evaluate/evaluate.h"
#include "train/evaluate/test_augmentation.h"
#include "train/model/class_names.h"
#include "train/model/state_dict.h"
#include "train/nets/losses.h"
#include "train/run/record/run_order.h"
#include "train/run/record/setup.h"
#include "train/run/record/stored_run.h"
#include "train/run/record/stored_weights.h"
#include "train/run/start/several_labels.h"

namespace winnow::train {
namespace {

constexpr const char* kHoldout = "holdout";

// The samples of an evaluation.
struct Judged {
  std::string split;
  pipeline::EvaluationSamples samples;
};

// The run's hold-out, cut in the same way as for training. No group is cut, so nothing leaks.
Judged held_out(const EvalOptions& options, const StoredConfig& stored,
                const pipeline::Cache& cache) {
  const std::string run = options.run.string();
  if (stored.holdout == 0) {
    throw UsageError(run + " has no hold-out; choose another --split");
  }
  if (!began_with(stored, cache)) {
    throw UsageError(run + " has its hold-out in another cache than " +
                     options.data.cache.string() + "; name that cache, or choose another --split");
  }
  if (!options.data.selection.empty()) {
    throw UsageError("the hold-out of " + run +
                     " belongs to the selection of its training; leave out --selection");
  }
  pipeline::HeldOut cut =
      pipeline::hold_out(cache, pipeline::select_samples(cache, Split::kTrain, stored.selection),
                         stored.selection, stored.holdout);
  return {kHoldout, {.all = std::move(cut.held), .leaked = {}}};
}

// The requested split with its samples; otherwise the first of test, val and hold-out that has any.
Judged choose_split(const EvalOptions& options, const StoredConfig& stored,
                    const pipeline::Cache& cache, const std::string& selection) {
  const std::string& wanted = options.data.split;
  if (wanted == kHoldout) return held_out(options, stored, cache);
  std::vector<Split> splits{Split::kTest, Split::kVal};
  if (!wanted.empty()) {
    const auto split = parse_split(wanted);
    if (!split) {
      throw UsageError("unknown split '" + wanted +
                       "'; known: train, val, test, none, and holdout for the hold-out of a run");
    }
    splits = {*split};
  }
  for (const Split split : splits) {
    auto samples = pipeline::evaluation_samples(cache, split, selection);
    if (samples.all.size() > 0) return {std::string(split_name(split)), std::move(samples)};
  }
  if (!wanted.empty()) {
    throw UsageError("the cache has no samples of split " + wanted +
                     "; winnow info shows what there is");
  }
  if (stored.holdout > 0) return held_out(options, stored, cache);
  throw UsageError("the cache has neither a test nor a val split; name one with --split");
}

// A net with its weights.
struct Subject {
  StoredConfig config;
  Graph graph;  // for inference
  Model model;
  std::optional<double> epoch;
};

Subject stored_run(const EvalOptions& options, const std::function<void(std::string)>& note) {
  if (!options.file.net.name.empty() || options.file.image_side_px > 0 ||
      options.file.eval_resize_px) {
    throw UsageError(options.run.string() +
                     " is a run, which knows its net and image size; leave out --net, --image-size "
                     "and --eval-resize");
  }
  StoredRun run = load_run(options.run, options.checkpoint, note);
  return {std::move(run.config), std::move(run.graph), std::move(run.model), run.epoch};
}

// Reorders the outputs of a run's net to the order of the cache's classes.
void match_classes(const EvalOptions& options, const std::vector<std::string>& wanted,
                   Subject& subject, const std::function<void(std::string)>& note) {
  const std::string run = options.run.string();
  const std::string cache = options.data.cache.string();
  const std::vector<std::string>& trained = subject.model.classes;
  if (!trained.empty()) {
    const std::string other = first_other_class(trained, run, wanted, cache);
    if (!other.empty()) {
      throw UsageError("the run was trained for other classes, as " + other +
                       "; use a cache with the same classes");
    }
    order_classes(subject.model, subject.graph, wanted);
    return;
  }
  if (wanted.size() != static_cast<std::size_t>(subject.config.setup.options.classes)) {
    throw UsageError("the run was trained for " +
                     count_of(static_cast<std::uint64_t>(subject.config.setup.options.classes),
                              "class", "classes") +
                     ", but " + cache + " has " + std::to_string(wanted.size()) +
                     "; use a cache with the same classes");
  }
  note(run + " does not name its classes: they are assumed to be those of " + cache +
       ", in the same order");
}

Subject stored_weights(const EvalOptions& options, const pipeline::DatasetInfo& info,
                       const std::function<void(std::string)>& note) {
  const std::string file = options.run.string();
  if (!options.checkpoint.name.empty() || options.checkpoint.ema) {
    throw UsageError(
        file + " is a file of weights, which has no checkpoints; leave out --checkpoint and --ema");
  }
  if (options.checkpoint.head > 0) {
    throw UsageError(file + " is a file of weights, which has no heads; leave out --head");
  }
  StoredWeights stored =
      load_weights(options.run, options.file, options.data.cache, info, FileUse::kClasses);
  if (!stored.from.other.empty()) {
    throw UsageError(file + " is " + stored.from.other + "; use a cache with the same classes");
  }
  if (!stored.from.kept.empty()) {
    throw UsageError(file + " has another number of classes than the " +
                     std::to_string(info.classes.size()) + " of the cache: see its tensor " +
                     stored.from.kept.front());
  }
  if (stored.from.unnamed) {
    note(file + " does not name its classes: they are assumed to be those of " +
         options.data.cache.string() + ", in the same order");
  }
  return {std::move(stored.config), std::move(stored.graph), std::move(stored.model), std::nullopt};
}

// An evaluation with everything that is decided before anything is compiled.
struct EvalJob {
  std::shared_ptr<const pipeline::Cache> cache;
  std::vector<std::string> classes;
  Subject subject;
  Judged of;
  bool judged = false;  // by a selection, so that leaks are known
  ViewMean view_mean;
  std::optional<pipeline::SampleLabels> several_labels;
};

// The selection that tells what has leaked: the given one, otherwise the one used in training.
std::string choose_selection(const EvalOptions& options, const StoredConfig& stored,
                             const pipeline::Cache& cache) {
  const std::string& wanted = options.data.selection;
  if (!wanted.empty() || stored.selection.empty() || !began_with(stored, cache)) return wanted;
  // Another selection of that name may treat training samples as test samples.
  if (pipeline::selection_digest(cache, stored.selection, stored.cache_digest) !=
      stored.selection_digest) {
    throw UsageError(
        "the run was trained with another version of selection '" + stored.selection +
        "' than the one in " + options.data.cache.string() +
        "; make that selection again, or name one with --selection to evaluate anyway");
  }
  return stored.selection;
}

EvalJob look_up_job(const EvalOptions& options, int rank,
                    const std::function<void(std::string)>& note) {
  EvalJob job;
  if (!options.data.tta.empty()) job.view_mean.of = &find_test_augmentation(options.data.tta);
  job.cache = pipeline::open_cache(options.data.cache, options.data.placement, rank);
  const pipeline::DatasetInfo info = pipeline::describe(*job.cache);
  job.subject = std::filesystem::is_regular_file(options.run) ? stored_weights(options, info, note)
                                                              : stored_run(options, note);
  const StoredConfig& stored = job.subject.config;
  if (!find_loss(stored.setup.options.loss.name).reads_labels()) {
    throw UsageError(
        options.run.string() +
        " was trained without labels and predicts no classes; get its features with winnow embed");
  }
  if (job.subject.epoch) match_classes(options, class_names(info.classes), job.subject, note);
  job.view_mean.sigmoid = find_loss(stored.setup.options.loss.name).sigmoid;
  const std::string selection = choose_selection(options, stored, *job.cache);
  job.judged = !selection.empty();
  job.of = choose_split(options, stored, *job.cache, selection);
  LossOptions loss = stored.setup.options.loss;
  loss.allow_unlabelled = loss.allow_unlabelled || options.data.allow_unlabelled;
  job.several_labels = several_labels(*job.cache, job.of.samples.all.ids, loss,
                                      "images of split " + job.of.split, {});
  job.classes = info.classes;
  return job;
}

}  // namespace

EvalResult evaluate_run(const EvalOptions& options, comm::Communicator& comm,
                        const ProgressSink& progress,
                        const std::function<void(std::string)>& note) {
  std::unique_ptr<Backend> backend;
  on_all(comm, [&] { backend = make_backend(options.backend, {.device = comm.local_rank()}); });
  return evaluate_run(options, *backend, comm, progress, note);
}

EvalResult evaluate_run(const EvalOptions& options, Backend& backend, comm::Communicator& comm,
                        const ProgressSink& progress,
                        const std::function<void(std::string)>& note) {
  EvalJob job;
  on_all(comm, [&] { job = look_up_job(options, comm.rank(), note); });
  const std::unique_ptr<WeightStore> weights = place_weights(backend, job.subject.model);
  std::vector<std::unique_ptr<Program>> programs;
  programs.push_back(backend.compile(job.subject.graph, {options.dtype, options.threads.compute}));
  weights->bind(*programs.back());
  weights->load();

  const StoredConfig& config = job.subject.config;
  const pipeline::Source source{job.cache,
                                pipeline::spread(*job.cache, comm, options.data.placement)};
  EvalResult result;
  result.epoch = job.subject.epoch;
  result.split = std::move(job.of.split);
  result.classes = std::move(job.classes);
  const auto begin = std::chrono::steady_clock::now();
  result.evaluation =
      evaluate(programs,
               {.source = source,
                .samples = job.of.samples.all,
                .leaked = job.judged ? &job.of.samples.leaked : nullptr,
                .with_logits = options.with_logits,
                .view_mean = job.view_mean,
                .several_labels = job.several_labels ? &*job.several_labels : nullptr},
               {.geometry = geometry_of(config.setup),
                .recipe = eval_recipe(config.eval_resize_px),
                .threads = options.threads.decode},
               comm, progress);
  result.images_per_second =
      static_cast<double>(result.evaluation.samples) /
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.ids = std::move(job.of.samples.all.ids);
  result.several_labels = std::move(job.several_labels);
  return result;
}

}  // namespace winnow::train

#include "train/run/start/job.h"

#include <algorithm>
#include <utility>

#include "common/checksum.h"
#include "common/comm/agreement.h"
#include "common/comm/schedule/choice.h"
#include "common/counted.h"
#include "common/file.h"
#include "train/backend/backend.h"
#include "train/model/class_names.h"
#include "train/ops/batch_norm.h"
#include "train/optim/averaging.h"
#include "train/optim/learning_rate.h"
#include "train/optim/rate_options.h"
#include "train/optim/recipe_options.h"
#include "train/run/record/best.h"
#include "train/run/record/config_facts.h"
#include "train/run/record/run_order.h"
#include "train/run/start/build_name.h"
#include "train/run/start/pipeline.h"
#include "train/run/start/planning.h"
#include "train/run/start/several_labels.h"
#include "train/run/start/without_labels.h"

namespace winnow::train {
namespace {

// Images without a split are not used for training by default: nothing would be left to evaluate
// on, and which images may be on which side depends on their duplicates.
void require_training_split(const DataOptions& options, const pipeline::DatasetInfo& info) {
  const auto count = [&](Split split) {
    return info.split_counts.at(static_cast<std::size_t>(split));
  };
  if (!options.selection.empty() || count(Split::kTrain) > 0 || count(Split::kNone) == 0) return;
  const std::string cache = options.cache.string();
  throw UsageError(cache + " has " + count_of(count(Split::kNone), "image") +
                   " without a split and no training images; make splits with winnow split " +
                   cache + ", then train with --selection split");
}

// Returns the training samples, and puts the evaluation sets into `data`.
pipeline::SampleSet choose_samples(const DataOptions& options, bool reads_labels, JobData& data) {
  const pipeline::Cache& cache = *data.source.cache;
  pipeline::check_holds_images(cache);
  if (!reads_labels) {
    data.evaluation_sets = {{Split::kVal, {}}, {Split::kTest, {}}};
    return pipeline::select_samples(cache, split_without_labels(options, data), options.selection);
  }
  require_classes(options, data.info);
  require_training_split(options, data.info);
  pipeline::SampleSet train = pipeline::select_samples(cache, Split::kTrain, options.selection);
  if (options.holdout > 0) {
    pipeline::HeldOut cut = pipeline::hold_out(cache, train, options.selection, options.holdout);
    // no group is cut, so nothing leaks
    data.evaluation_sets[Split::kVal].samples = std::move(cut.held);
    data.evaluation_sets[Split::kTest] = {};
    return std::move(cut.train);
  }
  for (const Split split : {Split::kVal, Split::kTest}) {
    auto found = pipeline::evaluation_samples(cache, split, options.selection);
    data.evaluation_sets[split] = {.samples = std::move(found.all),
                                   .leaked = std::move(found.leaked)};
  }
  return train;
}

void make_sampler(const pipeline::SamplingOptions& sampling, std::uint64_t seed,
                  pipeline::SampleSet samples, int rank, JobData& data) {
  using pipeline::Sampling;
  const pipeline::Cache& cache = *data.source.cache;
  const bool by_class =
      sampling.sampling == Sampling::kBalanced || sampling.sampling == Sampling::kRepeatFactor;
  const pipeline::SampleLabels labels =
      by_class ? pipeline::read_labels(cache, samples.ids, data.label_of)
               : pipeline::SampleLabels{};
  const bool judged = sampling.shuffle.fraction != 1 && rank == 0;
  const pipeline::SampleLabels place_labels =
      judged ? pipeline::read_place_labels(cache, samples) : pipeline::SampleLabels{};
  data.sampler =
      std::make_shared<const pipeline::Sampler>(std::move(samples), seed, sampling, labels);
  if (judged) {
    data.shuffle_quality =
        pipeline::measure_shuffle(*data.sampler->partial_shuffle(), place_labels);
  }
}

pipeline::SampleSet weighed(const pipeline::ClassWeights& weights, pipeline::Sampling sampling,
                            const JobData& data, pipeline::SampleSet samples) {
  if (weights.none()) return samples;
  if (sampling == pipeline::Sampling::kWeighted) {
    throw UsageError(
        "--sampling weighted draws samples by their weights, and the loss does not use them again; "
        "leave out --class-weights, or use another sampling");
  }
  const auto labels = pipeline::read_labels(*data.source.cache, samples.ids, data.label_of);
  return pipeline::weigh_classes(samples, labels,
                                 pipeline::class_factors(weights, labels, data.info.classes));
}

// Reorders the classes to those of the run that began with `begun`, if `digests.by_names` shows
// that it had this cache's images and labels.
void take_order_of_run(const StoredConfig& begun, RunDigests& digests, JobData& data) {
  std::vector<std::string>& classes = data.info.classes;
  auto order = order_of_run(begun, class_names(classes), digests.by_names);
  if (!order) return;
  const std::vector<std::string> of_cache = classes;
  for (std::size_t label = 0; label < of_cache.size(); ++label) {
    classes[static_cast<std::size_t>(order->label_of[label])] = of_cache[label];
  }
  data.label_of = std::move(order->label_of);
  digests.cache = std::move(order->cache_digest);
}

// Looks up the samples of the job, and returns those for training.
pipeline::SampleSet look_up_samples(const DataOptions& options, const LossOptions& loss,
                                    const pipeline::ClassWeights& weights, JobData& data) {
  const pipeline::Cache& cache = *data.source.cache;
  pipeline::SampleSet train = weighed(weights, options.sampling.sampling, data,
                                      choose_samples(options, !learns_without_labels(loss), data));
  several_labels(cache, train.ids, loss, "training images", data.label_of);
  for (auto& [split, set] : data.evaluation_sets) {
    set.several_labels =
        several_labels(cache, set.samples.ids, loss,
                       "images of split " + std::string(split_name(split)), data.label_of);
  }
  return train;
}

void open_data(const DataOptions& options, int rank, JobData& data) {
  data.source.cache = pipeline::open_cache(options.cache, options.placement, rank);
  data.folder = options.cache;
  data.selection = options.selection;
  data.info = pipeline::describe(*data.source.cache);
}

// The cache's digest by names, computed on rank 0 alone because it reads the whole table. Empty on
// a rank with another cache, which require_one_job() reports. Collective.
std::string shared_digest_by_names(const LossOptions& loss, const JobData& data,
                                   comm::Communicator& comm) {
  std::string digest;
  on_root(comm, [&] {
    if (learns_without_labels(loss)) return;
    digest = pipeline::digest_by_names(*data.source.cache);
  });
  const std::string& own = data.info.digest;
  const std::string shared = comm::broadcast_text(comm, own + digest);
  return shared.starts_with(own) ? shared.substr(own.size()) : "";
}

// Looks up the job as this rank sees it, with an open cache. No collectives.
void look_up_job(const TrainOptions& options, const comm::Communicator& comm, RunDigests digests,
                 const std::optional<StoredConfig>& begun, Job& job) {
  JobData& data = job.data;
  const pipeline::Cache& cache = *data.source.cache;
  if (begun) take_order_of_run(*begun, digests, data);
  pipeline::SampleSet train =
      look_up_samples(options.data, options.recipe.loss, options.class_weights, data);
  digests.selection = pipeline::selection_digest(cache, data.selection, digests.cache);
  take_net(options, job);
  job.ranks = choose_rank_stages(options.recipe.local, job.sync_bn, job.forward, comm.size());
  pipeline::SamplingOptions sampling = options.data.sampling;
  sampling.shuffle.batch = static_cast<std::uint64_t>(options.batch.batch);
  make_sampler(sampling, options.recipe.seed, std::move(train), comm.rank(), data);
  job.batches =
      plan_batches(static_cast<std::int64_t>(data.sampler->epoch_size()), options.batch.batch,
                   job.setup.options.batch, options.recipe.epochs, job.ranks.place_of(comm.rank()),
                   !find_loss(options.recipe.loss.name).reads_labels());
  job.config = config_text(options, job.setup, data.info, digests);
}

void require_one_job(const Job& job, const Backend& backend, comm::Communicator& comm) {
  std::map<std::string, std::string> facts = config_facts(job.config);
  facts["build"] = build_name();
  if (comm.size() > 1) {
    facts["program"] = to_hex(xxh3_128(MappedFile("/proc/self/exe").bytes()));
  }
  facts["instruction set"] = backend.instruction_set();
  facts["library"] = backend.library();
  require_agreement(comm, facts);
}

// Checks that the phases of the learning rate fit into the run. A schedule may have a warm-up of
// its own.
void check_lengths(const RecipeOptions& recipe) {
  const double cooldown = ChosenOptions(kRateOptions, recipe.options).number("cooldown_epochs");
  const double warmup =
      find_lr_schedule(recipe.rate.schedule).warms_up ? 0 : recipe.rate.warmup_epochs;
  if (cooldown > 0 && warmup + cooldown > recipe.epochs) {
    throw UsageError(
        "--warmup-epochs and --cooldown-epochs together are longer than --epochs; "
        "shorten one of them");
  }
}

void require_val(const Job& job, const std::string& who) {
  if (!job.data.evaluation_sets.at(Split::kVal).samples.ids.empty()) return;
  throw UsageError(who +
                   ", but the cache has no val split; hold out training images with --holdout 0.1, "
                   "or make splits with winnow split");
}

// Throws UsageError if the job does not have the watched metric, if a metric is needed but none is
// watched, or if there is nothing to evaluate as often as requested.
void check_evaluation(const EvaluationOptions& evaluation, const Job& job) {
  const std::string metric = watched_metric(evaluation.keep_best);
  if (evaluation.interval > 0) require_val(job, "--eval-every needs images to evaluate on");
  if (metric.empty()) {
    if (evaluation.patience == 0) return;
    throw UsageError("--early-stop uses the metric of --keep-best; add --keep-best");
  }
  require_val(job, "--keep-best needs images to choose by");
  const std::string wanted = "--keep-best " + evaluation.keep_best;
  if (metric.starts_with("val_ema.") && ema_of(job.recipe.options).every == 0) {
    throw UsageError(wanted + " is for the moving average of the weights; add --ema-decay");
  }
  if (metric.ends_with(".top5") && job.setup.options.classes < kTop5Classes) {
    throw UsageError(wanted + " is 1 for the " + std::to_string(job.setup.options.classes) +
                     " classes of this net; use top1");
  }
  if (metric.ends_with(".map") && !job.data.evaluation_sets.at(Split::kVal).several_labels) {
    throw UsageError(wanted + " is for images with several labels and --loss bce or focal");
  }
  if (metric.ends_with(".top1_leak_free") && job.data.selection.empty()) {
    throw UsageError(wanted + " needs a selection; name one with --selection");
  }
}

}  // namespace

void take_net(const TrainOptions& options, Job& job) {
  const pipeline::DatasetInfo& info = job.data.info;
  job.setup = fit_net(options.net, options.recipe.loss, options.batch, options.data, info);
  job.recipe = options.recipe;
  job.augment = recipe_of(options.data, info);
  job.eval_resize_px = eval_resize_of(options.data, info, job.setup);
  job.tta = options.run.evaluation.tta;
  check_local(options.recipe.local, options.recipe.loss);
  job.setup.local =
      choose_stages(options.recipe.local, forward_graph(job.setup), job.setup.options);
  job.forward = trained_graph(job.setup);
  job.sync_bn = options.batch.sync_bn;
  if (job.sync_bn &&
      std::ranges::find(job.forward.nodes, &kBatchNorm, &Node::op) == job.forward.nodes.end()) {
    throw UsageError(job.setup.net.name + " has no batch norm; leave out --sync-bn");
  }
}

Job open_job(const TrainOptions& options, const Backend& backend, comm::Communicator& comm) {
  Job job;
  const std::string init_from_digest = digest_of_weights(options.start.init_from, comm);
  const std::optional<StoredConfig> begun = begun_config(options.run, comm);
  on_all(comm, [&] { open_data(options.data, comm.rank(), job.data); });
  const RunDigests digests{.cache = job.data.info.digest,
                           .by_names = shared_digest_by_names(options.recipe.loss, job.data, comm),
                           .selection = {},
                           .init_from = init_from_digest};
  on_all(comm, [&] {
    look_up_job(options, comm, digests, begun, job);
    check_execution(options.execution, backend);
    // Unknown names fail here, equally on all ranks.
    check_recipe(options.recipe.optimizer, options.recipe.rate.schedule, options.recipe.options);
    check_lengths(options.recipe);
    check_without_labels(job, options.data, options.run.evaluation, options.class_weights);
    check_evaluation(options.run.evaluation, job);
    const std::string& schedule = options.execution.all_reduce.schedule;
    if (schedule != comm::kAutoSchedule) comm::find_schedule(schedule);
  });
  job.data.source.spread = pipeline::spread(*job.data.source.cache, comm, options.data.placement);
  require_one_job(job, backend, comm);
  return job;
}

std::vector<std::string> notes_on_data(const Job& job) {
  std::vector<std::string> notes;
  if (!job.setup.local.updates.empty()) {
    notes.push_back(heads_in_words(job.setup.local, job.forward));
  }
  const JobData& data = job.data;
  if (job.ranks.is_pipeline()) notes.push_back("pipeline: " + in_words(job.ranks));
  const BatchLayout& b = job.batches;
  if (b.batch > b.samples) {
    notes.push_back("--batch-size " + std::to_string(b.batch) + " is larger than the " +
                    std::to_string(b.samples) +
                    " training samples of an epoch: every step uses samples more than once, and an "
                    "epoch is shorter than a step");
  }
  if (data.info.stored_recipe != pipeline::Recipe::kNone) {
    notes.push_back("training images are the cache's variants (recipe " +
                    std::string(recipe_name(data.info.stored_recipe)) + "), " +
                    (job.augment == pipeline::Recipe::kNone
                         ? "without further augmentation"
                         : std::string(recipe_name(job.augment)) + " applied to them"));
  }
  if (!data.label_of.empty()) {
    notes.push_back(
        data.folder.string() +
        " lists the classes in another order than when the run started: they are matched by name");
  }
  if (data.shuffle_quality) {
    notes.push_back(in_words(*data.sampler->partial_shuffle(), *data.shuffle_quality));
  }
  return notes;
}

}  // namespace winnow::train

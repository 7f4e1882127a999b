#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/sources/class_words.h"
#include "app/train/train_folds.h"
#include "app/train/train_machines.h"
#include "app/train/training_recipes.h"
#include "app/words.h"
#include "common/comm/agreement.h"
#include "common/error.h"
#include "dedup/split/folds.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/help.h"
#include "tools/live_run.h"
#include "tools/memory_flags.h"
#include "tools/metrics_flags.h"
#include "tools/net_list.h"
#include "tools/numbers.h"
#include "tools/progress_bar.h"
#include "tools/recipe_flags.h"
#include "tools/shuffle_flags.h"
#include "tools/train_health.h"
#include "tools/training_recipe_flags.h"
#include "train/backend/backend.h"
#include "train/evaluate/test_augmentation.h"
#include "train/nets/net_blocks.h"
#include "train/nets/nets.h"
#include "train/optim/learning_rate.h"
#include "train/optim/optimizer.h"
#include "train/run/setup.h"
#include "train/run/train.h"
#include "train/step/loss_scale.h"
#include "train/trace/run_trace.h"

namespace winnow::tools {
namespace {

// Words that become options when the verb runs.
struct Given {
  std::string augment;
  std::string sampling = "uniform";
  std::string class_weights;
  std::string dtype = "f32";
  std::string loss_scale = "auto";
  std::vector<std::string> frozen;     // patterns
  std::vector<std::string> lr_scales;  // PATTERN=FACTOR
  std::vector<std::string> no_decay;   // patterns, or "none" alone; empty: not given
  std::string resume = "no";
};

struct Output {
  bool live = false;
  bool json = false;
  std::string trace_steps;  // empty: none
  HealthFlags health;
  MetricsOutletOptions metrics;
};

struct TrainFlags {
  train::TrainOptions train;
  Given given;
  std::uint64_t bucket_kib = 0;
  TakenRecipe recipe;
  MemoryOptions memory;
  int threads = 0;
  std::uint32_t folds = 0;  // 0: one run
  Output output;
};

std::string augment_help() {
  return "Augmentation is none, cifar (crop+flip), imagenet (resized_crop+flip), or steps joined\n"
         "by +, done in order, each with parameters where they are not torchvision's:\n" +
         pipeline::recipe_help();
}

// Freezing comes last: what is frozen stays so whatever else its name matches.
std::vector<train::LrScale> lr_scales(const Given& given) {
  std::vector<train::LrScale> rules;
  for (const std::string& text : given.lr_scales) {
    const std::size_t equals = std::min(text.rfind('='), text.size());
    const std::string factor = text.substr(std::min(equals + 1, text.size()));
    train::LrScale rule{text.substr(0, equals), 0};
    const auto [end, error] =
        std::from_chars(factor.data(), factor.data() + factor.size(), rule.factor);
    if (error != std::errc() || end != factor.data() + factor.size()) {
      throw UsageError("--lr-scale " + text + " is not of the form PATTERN=FACTOR");
    }
    rules.push_back(rule);
  }
  for (const std::string& pattern : given.frozen) rules.push_back({pattern, 0});
  return rules;
}

std::vector<std::string> no_decay(const std::vector<std::string>& patterns) {
  if (std::ranges::find(patterns, "none") == patterns.end()) return patterns;
  if (patterns.size() == 1) return {};
  throw UsageError("--no-decay none stands alone; leave none out, or the patterns beside it");
}

// 0: "auto".
double loss_scale(const std::string& text) {
  if (text == "auto") return 0;
  double factor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
  if (error == std::errc() && end == text.data() + text.size() && train::is_loss_scale(factor)) {
    return factor;
  }
  throw UsageError("--loss-scale " + text +
                   " is neither auto nor a power of two from 2^-14 to 2^24, such as 1024");
}

train::TrainOptions train_options(const TrainFlags& o, const Session& session) {
  train::TrainOptions options = o.train;
  comm::on_all(session.comm, [&] {
    if (!o.given.augment.empty()) options.data.augment = pipeline::parse_recipe(o.given.augment);
    options.data.sampling.sampling = pipeline::parse_sampling(o.given.sampling);
    options.data.sampling.shuffle.batch = static_cast<std::uint64_t>(options.batch.batch);
    pipeline::check_shuffle_of(options.data.sampling);  // before anything is loaded for it
    if (!o.given.class_weights.empty()) {
      options.class_weights = pipeline::parse_class_weights(o.given.class_weights);
    }
    options.execution.dtype = train::parse_dtype(o.given.dtype);
    options.execution.loss_scale = loss_scale(o.given.loss_scale);
    const std::string& tta = options.run.evaluation.tta;
    if (!tta.empty()) train::find_test_augmentation(tta);  // or it is unknown
    options.start.lr_scales = lr_scales(o.given);
    if (!o.given.no_decay.empty()) options.start.no_decay = no_decay(o.given.no_decay);
  });
  options.execution.bucket_bytes = o.bucket_kib << 10;
  options.run.resume = o.given.resume == "auto";
  options.run.stop = session.stop;
  options.recipe.own = o.recipe.own;
  options.execution.threads = thread_plan(session, o.threads);
  return options;
}

nlohmann::ordered_json to_json(const train::TrainResult& result, const std::string& tta) {
  nlohmann::ordered_json json{{"schema", "winnow.train/1"},
                              {"epoch", result.epoch},
                              {"train_loss", result.train_loss},
                              {"top1", nullptr},
                              {"top1_leak_free", nullptr},
                              {"split", nullptr},
                              {"images_per_second", result.speed.images_per_second},
                              {"data_wait_s", result.speed.data_wait_seconds},
                              {"exposed_comm_s", result.speed.exposed.total()},
                              {"exposed_comm",
                               {{"late_s", result.speed.exposed.late},
                                {"wire_s", result.speed.exposed.wire},
                                {"addition_s", result.speed.exposed.addition}}}};
  if (const auto& best = result.best) {
    json["best"] = {{"metric", best->metric}, {"value", best->value}, {"step", best->step}};
  }
  if (const auto& score = result.score) {
    json["top1"] = score->top1;
    json["split"] = score->split;
    if (score->top1_leak_free) json["top1_leak_free"] = *score->top1_leak_free;
    if (score->top1_ema) json["top1_ema"] = *score->top1_ema;
  }
  if (!tta.empty()) json["tta"] = tta;
  return json;
}

// With its progress on stderr, as a view of the whole run where that is asked for and can be.
train::TrainResult train_shown(const TrainFlags& o, const train::TrainOptions& options,
                               Session& session, TrainHealth& health) {
  const bool shown = session.comm.rank() == 0;
  if (o.output.live && shown && can_show_live()) {
    LiveRun live(options.run.out, options.batch.batch, session.stop);
    const TrainHealth::Listening listening(
        health, [&](const std::string& sentence) { live.say(sentence); });
    return train::train(
        options, session.comm, [&](const Progress& progress) { live.show(progress); },
        [&](const std::string& sentence) { live.say(sentence); }, health.board());
  }
  if (o.output.live) {
    say(session,
        "--live draws in a terminal, and stderr is none: its progress comes as lines; "
        "winnow watch RUN draws it from another terminal");
  }
  const ProgressSink bar = progress_bar(session, "train", "images");
  return train::train(
      options, session.comm, bar, [&](const std::string& sentence) { say(session, sentence); },
      health.board());
}

// What became of a run, for people.
void tell(const train::RunOptions& run, const train::TrainResult& result, const Session& session) {
  say(session, fmt::format("{} steps, {:.0f} images/s; loss {:.4f}",
                           grouped(static_cast<std::uint64_t>(result.steps)),
                           result.speed.images_per_second, result.train_loss));
  if (const auto& score = result.score) {
    const std::string& tta = run.evaluation.tta;
    say(session,
        fmt::format("{} accuracy {}{}{}{}", score->split, percent(score->top1),
                    score->top1_leak_free
                        ? ", " + percent(*score->top1_leak_free) + " without leaked images"
                        : std::string(),
                    score->top1_ema ? ", of the moving average " + percent(*score->top1_ema)
                                    : std::string(),
                    tta.empty() ? "" : ", with --tta " + tta));
  }
  if (const auto& best = result.best) {
    say(session, fmt::format("best: {} {:.4f} after {} steps, checkpoints/best", best->metric,
                             best->value, grouped(static_cast<std::uint64_t>(best->step))));
  }
  say(session, fmt::format("run: {}", run.out.string()));
}

// Nobody where it is not asked for.
std::unique_ptr<train::RunTrace> make_trace(const TrainFlags& o, Session& session) {
  if (o.output.trace_steps.empty()) return nullptr;
  train::TraceSteps steps;
  comm::on_all(session.comm, [&] { steps = train::parse_trace_steps(o.output.trace_steps); });
  return std::make_unique<train::RunTrace>(session.comm, steps);
}

// Machines of a job may have different numbers of ranks. Collective.
void say_threads(const ThreadPlan& threads, const Session& session) {
  const std::string own = to_string(threads);
  const std::vector<std::string> all = comm::all_gather(session.comm, own);
  const bool alike = std::ranges::all_of(all, [&](const std::string& one) { return one == own; });
  say(session, fmt::format("{} {}, {} with {}", all.size(), all.size() == 1 ? "rank" : "ranks",
                           alike ? "each" : "rank 0", own));
}

// Classes that look like mistakes, before they are trained on. The cache may be on another machine,
// and is then where its files were placed; where it cannot be looked at, nothing is said.
void say_classes(const train::DataOptions& data, const Session& session) {
  const std::filesystem::path& elsewhere = data.placement.files_at;
  std::vector<std::string> remarks;
  try {
    const auto cache = pipeline::Cache::open(elsewhere.empty() ? data.cache : elsewhere,
                                             pipeline::OpenOptions::without_shards());
    remarks = data.selection.empty()
                  ? remarks_on_classes(cache.manifest())
                  : remarks_on_classes(cache, cache.read_selection(data.selection));
  } catch (const std::exception&) {  // what is wrong is said by who needs it
    return;
  }
  say_each(session, remarks);
}

void run(const TrainFlags& o, Session& untraced) {
  const std::unique_ptr<train::RunTrace> trace = make_trace(o, untraced);
  const Session unwatched{trace ? trace->communicator() : untraced.comm, untraced.threads,
                          untraced.stop, untraced.to};
  TrainHealth health(o.output.health, o.train.run.out, unwatched);
  Session& session = health.session();
  train::TrainOptions options = train_options(o, session);
  const auto outlet = open_outlet(o.output.metrics, options.run, session);
  say_threads(options.execution.threads, session);
  const nlohmann::ordered_json machines = tell_machines(o.threads, session);
  if (!o.recipe.sentence.empty()) say(session, o.recipe.sentence);
  std::vector<std::string> folds;  // before shards are placed, as selections may go with them
  if (o.folds > 0) {
    folds = make_fold_selections(options.data, options.recipe.loss, options.run, o.folds, session);
  }
  MemoryOptions memory = o.memory;
  const pipeline::ShuffleOptions& shuffle = options.data.sampling.shuffle;
  if (shuffle.fraction < 1) memory.partitions = shuffle.partitions;
  const pipeline::PlacedShards placed = place_shards(options.data.cache, memory, session);
  options.data.placement = placed.placement;
  if (session.comm.rank() == 0) say_classes(options.data, session);
  options.run.log.trace = trace.get();
  const auto train_one = [&](const train::TrainOptions& one) {
    train::TrainResult result = train_shown(o, one, session, health);
    tell(one.run, result, session);
    return result;
  };
  if (o.folds > 0) return train_folds(options, folds, train_one, o.output.json, session);
  const train::TrainResult result = train_one(options);
  if (!o.output.json || session.comm.rank() != 0) return;
  nlohmann::ordered_json json = to_json(result, options.run.evaluation.tta);
  json["machines"] = machines;
  fmt::print("{}\n", json.dump());
}

void add_data_flags(Verb verb, TrainFlags& o) {
  train::TrainOptions& t = o.train;
  const Verb data = verb.add_group("Data");
  data.add_option("--selection", t.data.selection, "Selection made by winnow dedup to obey");
  data.add_option(
      "--augment", o.given.augment,
      "Augmentation: none, cifar, imagenet or steps joined by + (see --help-all); if not "
      "given, cifar, or none where the cache holds variants that ingest --augment "
      "made at random");
  data.add_option("--sampling", o.given.sampling,
                  "How often an epoch has each training sample. uniform: once; balanced: all "
                  "classes equally often; repeat-factor: those of rare classes more often; "
                  "weighted: by the weights of the selection, which the loss then leaves alone")
      .one_of({"uniform", "balanced", "repeat-factor", "weighted"})
      .show_default();
  data.add_option("--repeat-threshold", t.data.sampling.repeat_threshold,
                  "repeat-factor: classes that a smaller share of the samples carries are rare; "
                  "one of a share f is due sqrt(threshold / f) times an epoch")
      .check(real_in(1e-9, 1.0))
      .show_default();
  data.add_option("--class-weights", o.given.class_weights,
                  "Factor for the weight of each training sample in the loss, by its class. "
                  "balanced: n / (classes * samples of the class); FILE: a CSV of class,weight, 1 "
                  "for classes it leaves out, 0: the class is ignored");
  add_shuffle_flags(data, t.data.sampling.shuffle);
  data.add_option("--holdout", t.data.holdout,
                  "Share of the training samples to validate on instead of training on them, cut "
                  "by duplicate group; the test split is left alone then")
      .in_shares()
      .check(real_in(0.0, 0.9))
      .show_default();
  data.add_option("--folds", o.folds,
                  "Cross-validation: cut what is trained on into K folds by duplicate group and "
                  "group key, train a run for each on the others, RUN/fold-1 to RUN/fold-K, and "
                  "write what it says of its own to RUN/out-of-fold.npy and .csv; winnow suspects "
                  "finds label errors by it")
      .check(whole_in(2, dedup::kMostFolds))
      .type_name("K");
  data.add_option("--image-size", t.data.image_side_px,
                  "Side in pixels; 0: as the images are, or the net's own where they differ")
      .check(whole_in(0, train::kMostSidePx))
      .show_default();
  data.add_option("--eval-resize", t.data.eval_resize_px,
                  "Pixels of the shorter side before the centre is cut for evaluation; 0: no "
                  "margin (default: 8/7 of the side, 256 for 224, where training sees crops of "
                  "random size of larger images)")
      .check(whole_in(0, train::kMostResizePx));

  add_memory_flags(data, o.memory);
}

void add_start_flags(Verb verb, TrainFlags& o) {
  train::TrainOptions& t = o.train;
  const Verb start = verb.add_group("Start");
  start.add_option("--init-from", t.start.init_from,
                   "Begin with the weights of this safetensors file, named as torchvision's; the "
                   "last layer begins anew where the classes differ");
  start.add_option("--freeze", o.given.frozen,
                   "Do not train tensors whose names match these patterns (* stands for any "
                   "characters), nor their running statistics");
  start.add_option("--lr-scale", o.given.lr_scales,
                   "PATTERN=FACTOR...: multiply the learning rate of the parameters that match; "
                   "the last that matches holds, 0 freezes");
}

void add_batch_flags(Verb recipe, train::BatchOptions& batch) {
  recipe.add_option("--batch-size", batch.batch, "Global batch, of all ranks together")
      .check(whole_in(1, kMostBatch))
      .show_default();
  recipe
      .add_option("--micro-batch", batch.micro_batch,
                  "Samples that share batch-norm statistics; 0: the largest divisor of the batch "
                  "up to 64 that leaves four parts (barlow_twins: 256, two), or the smallest from "
                  "8 where that has less")
      .check(whole_in(0, train::kMostMicroBatch))
      .show_default();
  recipe.add_flag("--sync-bn", batch.sync_bn,
                  "Batch-norm statistics of the whole batch, over all micro-batches of all ranks, "
                  "which are computed at once");
}

void add_loss_flags(Verb recipe, train::LossOptions& loss) {
  recipe
      .add_option("--loss", loss.name,
                  "What is minimised: cross_entropy, or over the sigmoid of each class bce or "
                  "focal, or without labels barlow_twins (see --help-all)")
      .show_default();
  recipe
      .add_option("--focal-gamma", loss.focal_gamma,
                  "focal: how little what is right already counts")
      .check(real_in(0.0, train::kMostFocalGamma))
      .show_default();
  recipe
      .add_option("--focal-alpha", loss.focal_alpha,
                  "focal: share of a sample's own class, the others' is 1 less it; below 0: all "
                  "count 1")
      .check(real_in(-1.0, 1.0))
      .show_default();
  recipe
      .add_option("--redundancy", loss.redundancy,
                  "barlow_twins: weight of what different numbers of a projection have in common")
      .check(real_in(train::kLeastRedundancy, train::kMostRedundancy))
      .show_default();
  recipe
      .add_option("--projection", loss.projection,
                  "barlow_twins: how many numbers two views of an image are compared by")
      .check(whole_in(1, train::kMostProjection))
      .show_default();
  recipe.add_flag("--allow-unlabelled", loss.allow_unlabelled,
                  "bce, focal: an image without a label is of no class, its target all zeros; "
                  "without this flag such images are refused");
  recipe.add_option("--label-smoothing", loss.label_smoothing, "Label smoothing")
      .check(real_in(0.0, 1.0))
      .show_default();
}

void add_recipe_flags(Verb verb, TrainFlags& o) {
  train::TrainOptions& t = o.train;
  const Verb recipe = verb.add_group("Recipe");
  recipe
      .add_option("--net", t.net.name,
                  "Net to train, or a .toml file that describes one (docs/nets.md); ? lists nets "
                  "with size and cost")
      .each([](const std::string& name) {
        if (name == "?") print_and_end(net_list());
      })
      .show_default();
  recipe.add_option("--epochs", t.recipe.epochs, "Passes over the training data")
      .check(real_above(0, kMostEpochs))
      .show_default();
  add_batch_flags(recipe, t.batch);
  recipe.add_option("--lr", t.recipe.rate.base, "Base learning rate, for the mean loss of a batch")
      .check(real_above(0, train::kMostNumber))
      .show_default();
  add_optimizer_flags(recipe, t.recipe);
  recipe.add_option("--warmup-epochs", t.recipe.rate.warmup_epochs, "Epochs of linear warm-up")
      .check(real_in(0, kMostEpochs))
      .show_default();
  add_lr_schedule_flags(recipe, t.recipe);
  recipe
      .add_option("--no-decay", o.given.no_decay,
                  "PATTERN,...: parameters without weight decay and LARS scaling, in place of "
                  "biases and batch norm (* stands for any characters); none: all are decayed")
      .delimiter(',');
  add_loss_flags(recipe, t.recipe.loss);
  recipe.add_option("--seed", t.recipe.seed, "Seed of weights, order and augmentation")
      .check(seeds())
      .show_default();
}

void add_all_reduce_flags(Verb group, train::AllReduceOptions& all_reduce,
                          std::uint64_t& bucket_kib) {
  group
      .add_option(
          "--schedule", all_reduce.schedule,
          "All-reduce of the gradients; auto: on one machine over memory that its ranks share; "
          "on several the fastest for each size, with colors of its own, by a short "
          "measurement of the network when the run begins or has other ranks")
      .show_default();
  group
      .add_option("--colors", all_reduce.grain.colors,
                  "Trees of the multicolor and hierarchical schedules")
      .check(whole_in(1, 64))
      .show_default();
  group.on_flag(
      "--bf16-gradients", [&all_reduce] { all_reduce.wire = comm::Wire::kBF16; },
      "Ranks tell each other gradients and running statistics in bf16: half the bytes; sums are in "
      "f32, and rounded at each hop");
  group.add_flag(
      "--error-feedback", all_reduce.error_feedback,
      "With --bf16-gradients: what a rank's own gradients lose in rounding it adds to those of the "
      "next step; forgotten at each checkpoint");
  group.add_flag("--comm-checksum", all_reduce.checksums,
                 "A checksum goes with each message between ranks; one that arrives damaged ends "
                 "the run and names its two ranks");
  group
      .add_option("--bucket-size", bucket_kib,
                  "KiB of gradients reduced at a time; 0: 1024, with --schedule auto on several "
                  "machines what leaves the least to wait for after a backward pass, which is "
                  "measured")
      .check(whole_in(0, 1 << 22))
      .show_default();
}

void add_execution_flags(Verb verb, TrainFlags& o) {
  train::TrainOptions& t = o.train;
  const Verb execution = verb.add_group("Execution");
  execution.add_option("--backend", t.execution.backend, "What computes").show_default();
  execution.add_option("--dtype", o.given.dtype, "Precision of activations")
      .one_of({"f32", "bf16", "f16", "tf32"})
      .show_default();
  execution
      .add_option("--loss-scale", o.given.loss_scale,
                  "With --dtype f16: what gradients are computed times, a power of two; auto: from "
                  "65536 on it halves where they overflow, which repeats the step, and doubles "
                  "after 2000 steps without")
      .show_default();
  execution.add_option("--threads", o.threads, "Cores a rank uses; 0: its share of the machine")
      .check(cores())
      .show_default();
  execution
      .add_option(
          "--lane-threads", t.execution.lane_threads,
          "Threads of each lane, which works off micro-batches beside the others; 0: those "
          "of the run's plan, else 1 with --reproducible, else as few as keep all cores busy. "
          "Other lane threads change the last bits of the weights, with --reproducible too")
      .check(cores())
      .show_default();
  execution.add_flag(
      "--reproducible", t.execution.reproducible,
      "The same weights, bit for bit, on any number of ranks, cores and lanes, with any "
      "schedule and buckets; for the same --lane-threads, instruction set and "
      "library");
  add_all_reduce_flags(execution, t.execution.all_reduce, o.bucket_kib);
}

void add_evaluation_flags(Verb group, train::EvaluationOptions& evaluation) {
  group
      .add_option("--eval-every", evaluation.interval,
                  "Steps between evaluations on val; 0: where epochs end")
      .check(whole_in(0, kMostCount))
      .show_default();
  group.add_option(
      "--keep-best", evaluation.keep_best,
      "METRIC[:SPLIT]: also keep the checkpoint with the best evaluation, as "
      "checkpoints/best: top1, top5, top1_leak_free, map or loss, of val or val_ema; see "
      "--holdout");
  group.add_option("--tta", evaluation.tta,
                   "Test-time augmentation in all evaluations of the run, --keep-best's, too: see "
                   "winnow eval --tta");
  group
      .add_option("--early-stop", evaluation.patience,
                  "End after so many evaluations in which --keep-best's metric was no better; 0: "
                  "do not")
      .check(whole_in(0, kMostCount))
      .show_default();
}

void add_run_flags(Verb verb, TrainFlags& o) {
  train::TrainOptions& t = o.train;
  const Verb run_group = verb.add_group("Run");
  run_group
      .add_option("--resume", o.given.resume,
                  "auto: go on from the newest complete checkpoint in --out")
      .one_of({"no", "auto"})
      .show_default();
  run_group.add_flag(
      "--replan", t.run.replan,
      "Go on even where the run's plan.json does not fit this machine or is damaged; "
      "the last bits of the weights change");
  run_group
      .add_option("--recovery-interval", t.run.checkpoints.interval,
                  "Steps between checkpoints inside an epoch; 0: only where epochs end")
      .check(whole_in(0, kMostCount))
      .show_default();
  run_group.add_option("--log-interval", t.run.log.interval, "Steps between lines of metrics.jsonl")
      .check(whole_in(1, kMostCount))
      .show_default();
  run_group.add_flag("--tensorboard", t.run.log.tensorboard,
                     "Also write what is in metrics.jsonl for TensorBoard, to the folder "
                     "tensorboard of --out");
  run_group.add_flag("--log-batches", t.run.log.batches,
                     "Also write a digest of every global batch to metrics.jsonl: samples, their "
                     "pixels as augmented, labels, weights; equal for any number of ranks, threads "
                     "and machines, and after any kill");
  run_group.add_option("--checkpoint-hist", t.run.checkpoints.kept, "Checkpoints to keep")
      .check(whole_in(1, kMostCount))
      .show_default();
  add_evaluation_flags(run_group, t.run.evaluation);
  run_group.add_option("--trace-steps", o.output.trace_steps,
                       "FIRST-LAST: write what all ranks do in these steps to trace.json of "
                       "--out, for Perfetto or Chrome; +6: in six steps behind the warm-up");
  run_group
      .add_option("--max-steps", t.run.max_steps,
                  "Stop after so many steps, counted from the run's first; 0: at the end")
      .check(whole_in(0, kMostCount))
      .show_default();
  run_group.add_flag("--live", o.output.live,
                     "Draw the run in the terminal: curves, speed, time left and what the time "
                     "goes into; where stderr is none, the usual lines");
  run_group.add_flag("--json", o.output.json, "Print one JSON object on stdout");
  add_metrics_flags(run_group, o.output.metrics);
  add_health_flags(run_group, o.output.health);
}

constexpr const char* kMatters = R"(
The number of ranks changes who computes a micro-batch, not the global batches. The order of sums
depends on it: weights are equal to the last bit only with --reproducible.
With --shuffle-fraction below 1 samples of a partition meet more often, and micro-batches, over
which batch norm is taken, come from one partition but for what is exchanged: the run says at its
start how often, winnow bench shuffle for several fractions.
Ctrl-C, SIGTERM, SIGUSR1 and SIGHUP end a run after the step under way with a checkpoint and exit code 75.

)";

constexpr const char* kFirstExamples = R"(Examples:
  winnow train cache --out run --net lenet --epochs 5 --lr 0.05
  winnow train cache --out run --net resnet50 --image-size 224 --augment imagenet
  mpirun -np 2 winnow train cache --out run --selection default --resume auto)";

constexpr const char* kMoreExamples = R"(
  winnow train cache --out run --augment crop+flip+trivial_augment+erase:p=0.1
  mpirun -np 2 winnow train cache --out run --selection default --dtype bf16
  winnow train /nfs/cache --out run --memory-dir /scratch   # shards on a local disk
  mpirun -np 4 winnow train /data/cache --out run --memory  # on one of the machines only
  winnow train cache --out run --sampling balanced          # classes of unequal size
  mpirun -np 4 winnow train cache --out run --shuffle-fraction 0.1 --partitions 8
  winnow train cache --out run --init-from resnet20.safetensors --freeze 'layer1.*' \
      --lr-scale 'layer*=0.1'
  winnow train cache --out run --optimizer lars --batch-size 2048 --lr 8 \
      --warmup-epochs 2 --sched poly --label-smoothing 0.1
  winnow train cache --out run --recipe he-cifar --epochs 30
  winnow train cache --out run --net my.toml                # a net of your own, see docs/nets.md
  winnow train cache --out run --folds 4 --resume auto      # then winnow suspects cache --run run
  winnow train cache --out run --holdout 0.1 --eval-every 200 --keep-best top1 --early-stop 10
  winnow train --recipe mlperf-resnet50 --batch-size 8192 --show)";

std::string footer() {
  return "Nets:" + table_of(train::nets()) +
         "\nBlocks of a net's file (docs/nets.md):" + table_of(train::net_blocks()) +
         "\nOptimizers:" + table_of(train::optimizers()) + "\nLosses:" + table_of(train::losses()) +
         "\nLearning-rate schedules, after the warm-up:" + table_of(train::lr_schedules()) +
         "\nRecipes of training:" + training_recipes_help() +
         "\nBackends:" + table_of(train::backends()) +
         "\nSchedules:" + table_of(comm::schedules()) + "\n\n" + augment_help() + kMatters +
         kFirstExamples + kMoreExamples;
}

}  // namespace

Command add_train(Verb program) {
  auto o = std::make_shared<TrainFlags>();
  const Verb verb =
      program.add_verb("train", "Train a net on a cache, alone or under mpirun, and evaluate it");
  verb.add_option("cache", o->train.data.cache, "Cache made by winnow ingest").required();
  verb.add_option("--out", o->train.run.out, "Run directory: metrics, checkpoints").required();
  add_training_recipe_flags(verb, o->recipe);
  add_data_flags(verb, *o);
  add_start_flags(verb, *o);
  add_recipe_flags(verb, *o);
  add_execution_flags(verb, *o);
  add_run_flags(verb, *o);
  verb.footer(footer());
  shorten_help(verb,
               {"--out", "--net", "--epochs", "--batch-size", "--lr", "--augment", "--image-size",
                "--selection", "--init-from", "--resume"},
               kFirstExamples);
  const auto work = [o, verb](Session& session) {
    take_own_recipe(verb, o->recipe, session.comm);
    run(*o, session);
  };
  return {verb, true, work, /*stops=*/true};
}

}  // namespace winnow::tools

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "app/sources/class_words.h"
#include "app/train/train_folds.h"
#include "app/train/train_machines.h"
#include "app/train/training_recipes.h"
#include "app/words.h"
#include "common/comm/agreement.h"
#include "common/error.h"
#include "common/json.h"
#include "dedup/split/folds.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/help.h"
#include "tools/live_run.h"
#include "tools/memory_flags.h"
#include "tools/metrics_flags.h"
#include "tools/numbers.h"
#include "tools/train_flags.h"
#include "tools/train_health.h"
#include "tools/training_recipe_flags.h"
#include "train/backend/backend.h"
#include "train/nets/net_blocks.h"
#include "train/nets/nets.h"
#include "train/optim/learning_rate.h"
#include "train/optim/optimizer.h"
#include "train/run/setup.h"
#include "train/run/train.h"
#include "train/trace/run_trace.h"

namespace winnow::tools {
namespace {

struct Output {
  bool live = false;
  bool json = false;
  std::string trace_steps;  // empty: none
  HealthFlags health;
  MetricsOutletOptions metrics;
};

struct TrainVerb {
  TrainFlags flags;
  std::string resume = "no";
  std::uint32_t folds = 0;  // 0: one run
  Output output;
};

std::string augment_help() {
  return "Augmentation is none, cifar (crop+flip), imagenet (resized_crop+flip), or steps joined\n"
         "by +, done in order, each with parameters where they are not torchvision's:\n" +
         pipeline::recipe_help();
}

Json to_json(const train::TrainResult& result, const std::string& tta) {
  Json json{{"schema", "winnow.train/1"},
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
train::TrainResult train_shown(const TrainVerb& o, const train::TrainOptions& options,
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
std::unique_ptr<train::RunTrace> make_trace(const TrainVerb& o, Session& session) {
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

void run(const TrainVerb& o, Session& untraced) {
  const std::unique_ptr<train::RunTrace> trace = make_trace(o, untraced);
  const Session unwatched{trace ? trace->communicator() : untraced.comm, untraced.threads,
                          untraced.stop, untraced.to};
  TrainHealth health(o.output.health, o.flags.train.run.out, unwatched);
  Session& session = health.session();
  train::TrainOptions options = train_options(o.flags, session);
  options.run.resume = o.resume == "auto";
  const auto outlet = open_outlet(o.output.metrics, options.run, session);
  say_threads(options.execution.threads, session);
  const Json machines = tell_machines(o.flags.threads, session);
  if (!o.flags.recipe.sentence.empty()) say(session, o.flags.recipe.sentence);
  std::vector<std::string> folds;  // before shards are placed, as selections may go with them
  if (o.folds > 0) {
    folds = make_fold_selections(options.data, options.recipe.loss, options.run, o.folds, session);
  }
  MemoryOptions memory = o.flags.memory;
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
  if (!o.output.json) return;
  Json json = to_json(result, options.run.evaluation.tta);
  json["machines"] = machines;
  print(session, json.dump() + "\n");
}

void add_run_flags(Verb verb, TrainVerb& o) {
  train::TrainOptions& t = o.flags.train;
  const Verb run_group = verb.add_group("Run");
  run_group
      .add_option("--resume", o.resume, "auto: go on from the newest complete checkpoint in --out")
      .one_of({"no", "auto"})
      .show_default();
  run_group.add_flag(
      "--replan", t.run.replan,
      "Go on even where the run's plan.json does not fit this machine or is damaged; "
      "the last bits of the weights change");
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
  run_group.add_option("--trace-steps", o.output.trace_steps,
                       "FIRST-LAST: write what all ranks do in these steps to trace.json of "
                       "--out, for Perfetto or Chrome; +6: in six steps behind the warm-up");
  add_pause_flags(run_group, t.run);
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

std::string train_footer() {
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
  auto o = std::make_shared<TrainVerb>();
  const Verb verb =
      program.add_verb("train", "Train a net on a cache, alone or under mpirun, and evaluate it");
  verb.add_option("cache", o->flags.train.data.cache, "Cache made by winnow ingest").required();
  verb.add_option("--out", o->flags.train.run.out, "Run directory: metrics, checkpoints")
      .required();
  const Verb data = add_train_flags(verb, o->flags);
  data.add_option("--folds", o->folds,
                  "Cross-validation: cut what is trained on into K folds by duplicate group and "
                  "group key, train a run for each on the others, RUN/fold-1 to RUN/fold-K, and "
                  "write what it says of its own to RUN/out-of-fold.npy and .csv; winnow suspects "
                  "finds label errors by it")
      .check(whole_in(2, dedup::kMostFolds))
      .type_name("K");
  add_run_flags(verb, *o);
  verb.footer(train_footer());
  shorten_help(verb,
               {"--out", "--net", "--epochs", "--batch-size", "--lr", "--augment", "--image-size",
                "--selection", "--init-from", "--resume"},
               kFirstExamples);
  const auto work = [o, verb](Session& session) {
    take_own_recipe(verb, o->flags.recipe, session.comm);
    run(*o, session);
  };
  return {verb, true, work, /*stops=*/true};
}

}  // namespace winnow::tools

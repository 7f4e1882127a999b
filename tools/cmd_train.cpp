#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>

#include "app/train/train.h"
#include "app/train/training_recipes.h"
#include "common/comm/schedule/schedule.h"
#include "dedup/split/folds.h"
#include "pipeline/augment/recipe.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/help.h"
#include "tools/live_run.h"
#include "tools/numbers.h"
#include "tools/train_flags.h"
#include "tools/train_health.h"
#include "tools/training_recipe_flags.h"
#include "train/backend/backend.h"
#include "train/nets/local_heads.h"
#include "train/nets/net_blocks.h"
#include "train/nets/nets.h"
#include "train/optim/learning_rate.h"
#include "train/optim/optimizer.h"

namespace winnow::tools {
namespace {

struct TrainFlags {
  TrainRequest request;
  std::string resume = "no";
  bool live = false;
  HealthFlags health;
};

std::string augment_help() {
  return "Augmentation is none, cifar (crop+flip), imagenet (resized_crop+flip), or steps joined\n"
         "by +, done in order, each with parameters where they are not torchvision's:\n" +
         pipeline::recipe_help();
}

// Draws a run in the terminal if that is asked for and possible; else prints lines.
TrainView view_of(const std::filesystem::path& run, std::int64_t batch, bool live,
                  const Session& session, TrainHealth& health) {
  if (live && session.comm.rank() == 0 && can_show_live()) {
    auto drawn = std::make_shared<LiveRun>(run, batch, session.stop);
    const auto tell = [to = drawn.get()](const std::string& sentence) { to->say(sentence); };
    auto listening = std::make_shared<TrainHealth::Listening>(health, tell);
    return {.progress = [to = drawn.get()](const Progress& progress) { to->show(progress); },
            .say = tell,
            .shown = std::make_shared<std::pair<decltype(drawn), decltype(listening)>>(
                std::move(drawn), std::move(listening))};
  }
  if (live) {
    say(session,
        "--live draws in a terminal, but stderr is not one: progress is printed as lines; winnow "
        "watch RUN draws the run in another terminal");
  }
  return plain_view(session);
}

void run(const TrainFlags& o, Session& session) {
  TrainHealth* health = nullptr;  // as long as monitoring lasts
  run_train(o.request, session,
            {.watch =
                 [&](Session& traced) {
                   auto watch = std::make_shared<TrainHealth>(
                       o.health, o.request.choice.train.run.out, traced);
                   health = watch.get();
                   return TrainWatched{health->session(), health->board(), watch};
                 },
             .view =
                 [&](const std::filesystem::path& one, std::int64_t batch, const Session& watched) {
                   return view_of(one, batch, o.live, watched, *health);
                 }});
}

void add_metrics_flags(Verb group, MetricsOutletOptions& flags) {
  group.add_option("--metrics-file", flags.file,
                   "Also write the latest metrics to this file, in the text format of Prometheus, "
                   "at each line of metrics.jsonl; for the textfile collector of node_exporter, "
                   "name a .prom file in its folder");
  group
      .add_option("--metrics-port", flags.port,
                  "Also serve the metrics to Prometheus at http://127.0.0.1:PORT/metrics, on rank "
                  "0's machine during the run; 0: any free port")
      .check(whole_in(0, 65535))
      .type_name("PORT");
}

void add_run_flags(Verb verb, TrainFlags& o) {
  train::TrainOptions& t = o.request.choice.train;
  const Verb run_group = verb.add_group("Run");
  run_group
      .add_option("--resume", o.resume, "auto: resume from the newest complete checkpoint in --out")
      .one_of({"no", "auto"})
      .show_default();
  run_group.add_flag("--replan", t.run.replan,
                     "Resume even if the run's plan.json does not fit this machine or is damaged; "
                     "the last bits of the weights change");
  run_group
      .add_option("--kernel", o.request.choice.given.kernels,
                  "LAYER=KERNEL...: the library's kernels to compute these layers with, as winnow "
                  "plan --kernels writes them; for other layers the library chooses. Other kernels "
                  "change the last bits of the weights; a resumed run keeps its own")
      .type_name("LAYER=KERNEL");
  run_group.add_option("--log-interval", t.run.log.interval, "Steps between lines of metrics.jsonl")
      .check(whole_in(1, kMostCount))
      .show_default();
  run_group.add_flag("--tensorboard", t.run.log.tensorboard,
                     "Also write what is in metrics.jsonl for TensorBoard, to the folder "
                     "tensorboard of --out");
  run_group.add_flag("--log-batches", t.run.log.batches,
                     "Also write a digest of every global batch to metrics.jsonl: of its samples, "
                     "augmented pixels, labels and weights. It is the same for any number of "
                     "ranks, threads and machines, and after an interruption");
  run_group.add_option("--checkpoint-hist", t.run.checkpoints.kept, "Number of checkpoints to keep")
      .check(whole_in(1, kMostCount))
      .show_default();
  run_group.add_option("--trace-steps", o.request.trace_steps,
                       "FIRST-LAST: write what all ranks do in these steps to trace.json of "
                       "--out, for Perfetto or Chrome; +6: six steps after the warm-up");
  add_pause_flags(run_group, t.run);
  run_group.add_flag("--live", o.live,
                     "Draw the run in the terminal: curves, speed, time left and where the time "
                     "goes; if stderr is not a terminal, lines are printed as usual");
  run_group.add_flag("--json", o.request.json, "Print one JSON object on stdout");
  add_metrics_flags(run_group, o.request.metrics);
  add_health_flags(run_group, o.health);
}

constexpr const char* kMatters = R"(
The number of ranks changes who computes a micro-batch, not the global batches. The order of sums
depends on it: weights are equal to the last bit only with --reproducible.
With --shuffle-fraction below 1, samples of a partition meet more often, and micro-batches, over
which batch norm is computed, come from one partition except for what is exchanged. The run prints
at its start how often; winnow bench shuffle measures several fractions.
Ctrl-C, SIGTERM, SIGUSR1 and SIGHUP end a run after the current step, with a checkpoint and exit
code 75.

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
  winnow train cache --out run --local greedy --stages 2     # two stages with a loss each
  winnow train --recipe mlperf-resnet50 --batch-size 8192 --show)";

std::string train_footer() {
  return "Nets:" + table_of(train::nets()) +
         "\nBlocks of a net's file (docs/nets.md):" + table_of(train::net_blocks()) +
         "\nOptimizers:" + table_of(train::optimizers()) + "\nLosses:" + table_of(train::losses()) +
         "\nHeads of --local:" + table_of(train::local_heads()) +
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
  verb.add_option("cache", o->request.choice.train.data.cache, "Cache made by winnow ingest")
      .required();
  verb.add_option("--out", o->request.choice.train.run.out, "Run directory: metrics, checkpoints")
      .required();
  const Verb data = add_train_flags(verb, o->request.choice);
  data.add_option("--folds", o->request.folds,
                  "Cross-validation: divide the training samples into K folds by duplicate group "
                  "and group key, train a run without each fold, RUN/fold-1 to RUN/fold-K, and "
                  "write its predictions for that fold to RUN/out-of-fold.npy and .csv; winnow "
                  "suspects finds label errors from them")
      .check(whole_in(2, dedup::kMostFolds))
      .type_name("K");
  add_run_flags(verb, *o);
  verb.footer(train_footer());
  shorten_help(verb,
               {"--out", "--net", "--epochs", "--batch-size", "--lr", "--augment", "--image-size",
                "--selection", "--init-from", "--resume"},
               kFirstExamples);
  const auto work = [o, verb](Session& session) {
    take_own_recipe(verb, o->request.choice.recipe, session.comm);
    o->request.resume = o->resume == "auto";
    run(*o, session);
  };
  return {verb, true, work, /*stops=*/true};
}

}  // namespace winnow::tools

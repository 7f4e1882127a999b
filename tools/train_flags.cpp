#include "tools/train_flags.h"

#include <fmt/core.h>

#include <string>
#include <vector>

#include "app/train/net_list.h"
#include "common/comm/schedule/schedule.h"
#include "pipeline/load/loader.h"
#include "tools/numbers.h"
#include "tools/run_flags.h"
#include "tools/training_recipe_flags.h"
#include "train/evaluate/test_augmentation.h"
#include "train/optim/learning_rate.h"
#include "train/optim/recipe_options.h"
#include "train/run/record/setup.h"

namespace winnow::tools {
namespace {

using train::Option;
using train::OptionKind;

void add_flag(Verb verb, const Option& option, train::OptionValues& given) {
  const std::string flag = train::flag_of(option);
  const std::string what(option.what);
  const auto give = [&given, key = std::string(option.key)](std::vector<double> numbers) {
    given[key] = std::move(numbers);
  };
  switch (option.kind) {
    case OptionKind::kNumber:
      verb.on_option<double>(
              flag, [give](const double& number) { give({number}); }, what)
          .check(real_in(option.range))
          .show_default(fmt::format("{}", option.initial));
      return;
    case OptionKind::kSwitch:
      verb.on_switch(
              flag + ",!--no-" + flag.substr(2), [give](bool is_on) { give({is_on ? 1.0 : 0.0}); },
              what)
          .last_holds();
      return;
    case OptionKind::kNumbers:
      verb.on_option<std::vector<double>>(flag, give, what)
          .delimiter(',')
          .check(real_in(option.range));
      return;
  }
}

// --optimizer, the options of all optimisers and the common ones, from the tables of train/optim.
void add_optimizer_flags(Verb verb, train::RecipeOptions& recipe) {
  verb.add_option("--optimizer", recipe.optimizer, "Optimizer").show_default();
  for (const Option& option : train::optimizer_options()) add_flag(verb, option, recipe.options);
  for (const Option& option : train::step_options()) add_flag(verb, option, recipe.options);
}

// --sched, the options of all learning-rate schedules and the common ones.
void add_lr_schedule_flags(Verb verb, train::RecipeOptions& recipe) {
  verb.add_option("--sched", recipe.rate.schedule,
                  "Schedule of the learning rate after the warm-up")
      .one_of(train::lr_schedule_names())
      .show_default();
  for (const Option& option : train::lr_schedule_options()) add_flag(verb, option, recipe.options);
  for (const Option& option : train::rate_options()) add_flag(verb, option, recipe.options);
}

Verb add_data_flags(Verb verb, TrainChoice& o) {
  train::TrainOptions& t = o.train;
  const Verb data = verb.add_group("Data");
  data.add_option("--selection", t.data.selection, "Selection of winnow dedup to use");
  data.add_option("--augment", o.given.augment,
                  "Augmentation: none, cifar, imagenet or steps joined by + (see --help-all); "
                  "default: cifar, or none if the cache holds random variants of ingest --augment");
  data.add_option("--sampling", o.given.sampling,
                  "How often an epoch has each training sample. uniform: once; balanced: all "
                  "classes equally often; repeat-factor: samples of rare classes more often; "
                  "weighted: by the weights of the selection, which the loss then does not use")
      .one_of({"uniform", "balanced", "repeat-factor", "weighted"})
      .show_default();
  data.add_option("--repeat-threshold", t.data.sampling.repeat_threshold,
                  "repeat-factor: a class is rare if its share f of the samples is below this; its "
                  "samples then appear sqrt(threshold / f) times an epoch")
      .check(real_in(1e-9, 1.0))
      .show_default();
  data.add_option("--class-weights", o.given.class_weights,
                  "Factor for the weight of each training sample in the loss, by its class. "
                  "balanced: n / (classes * samples of the class); FILE: a CSV of class,weight; "
                  "weight 0 ignores a class, and classes that are not listed have 1");
  add_shuffle_flags(data, t.data.sampling.shuffle);
  data.add_option("--holdout", t.data.holdout,
                  "Share of the training samples to validate on instead of training on them, split "
                  "by duplicate group; the test split is not used then")
      .check(real_in(0.0, 0.9))
      .show_default();
  data.add_option(
          "--image-size", t.data.image_side_px,
          "Side of the images in pixels; 0: their own size, or the net's usual size if they differ")
      .check(whole_in(0, train::kMostSidePx))
      .show_default();
  data.add_option(
          "--eval-resize", t.data.eval_resize_px,
          "Evaluation: the shorter side is resized to this many pixels, then the centre is cut; "
          "0: no margin (default: 8/7 of the side, 256 for 224, if training cuts crops of "
          "random size from larger images; else 0)")
      .check(whole_in(0, train::kMostResizePx));

  add_memory_flags(data, o.memory);
  return data;
}

void add_start_flags(Verb verb, TrainChoice& o) {
  train::TrainOptions& t = o.train;
  const Verb start = verb.add_group("Start");
  start.add_option("--init-from", t.start.init_from,
                   "Start from the weights of this safetensors file, with torchvision's names; the "
                   "last layer is initialised again if the classes differ");
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
                  "Samples that share batch-norm statistics. 0: the largest divisor of the batch "
                  "up to 64 that leaves at least four parts (barlow_twins: up to 256, at least "
                  "two); if that is below 8, the smallest divisor from 8 up")
      .check(whole_in(0, train::kMostMicroBatch))
      .show_default();
  recipe.add_flag("--sync-bn", batch.sync_bn,
                  "Batch norm statistics over the whole batch: all micro-batches of all ranks, "
                  "which are computed at once");
}

void add_loss_flags(Verb recipe, train::LossOptions& loss) {
  recipe
      .add_option("--loss", loss.name,
                  "Loss: cross_entropy; bce or focal on the sigmoid of each class; barlow_twins "
                  "without labels (see --help-all)")
      .show_default();
  recipe
      .add_option("--focal-gamma", loss.focal_gamma,
                  "focal: gamma, which down-weights easy samples")
      .check(real_in(0.0, train::kMostFocalGamma))
      .show_default();
  recipe
      .add_option("--focal-alpha", loss.focal_alpha,
                  "focal: alpha, the weight of a sample's own class; the others weigh 1 - alpha; "
                  "below 0: all weigh 1")
      .check(real_in(-1.0, 1.0))
      .show_default();
  recipe
      .add_option("--redundancy", loss.redundancy,
                  "barlow_twins: weight of the off-diagonal term, the correlations between numbers "
                  "of a projection")
      .check(real_in(train::kLeastRedundancy, train::kMostRedundancy))
      .show_default();
  recipe
      .add_option("--projection", loss.projection, "barlow_twins: size of the projection of a view")
      .check(whole_in(1, train::kMostProjection))
      .show_default();
  recipe.add_flag("--allow-unlabelled", loss.allow_unlabelled,
                  "bce, focal: train on images without labels as images of no class, with a target "
                  "of zeros; without this flag they are refused");
  recipe.add_option("--label-smoothing", loss.label_smoothing, "Label smoothing")
      .check(real_in(0.0, 1.0))
      .show_default();
}

void add_local_flags(Verb recipe, train::LocalOptions& local) {
  recipe
      .add_option("--local", local.updates,
                  "Cut the net into stages, each trained by a loss and a head of its own, with "
                  "less memory and less accuracy. greedy: a loss trains its stage; overlapping: "
                  "also the stage before it. See --stages")
      .type_name("greedy|overlapping");
  recipe
      .add_option("--stages", local.stages,
                  "--local: number of stages, or the last layers of all stages but the last: "
                  "layer1,layer3 (--show lists the names)")
      .type_name("K|NAMES");
  recipe
      .add_option("--balance", local.balance,
                  "--stages K: what to minimise in the largest stage: multiply-adds (time), or "
                  "bytes of values (memory)")
      .one_of({"time", "memory"})
      .show_default("time");
  recipe
      .add_option("--local-head", local.head,
                  "--local: head that each stage is trained by: mlp-sr, linear or mlp-sr-full (see "
                  "--help-all)")
      .show_default(std::string(train::kUsualLocalHead));
  recipe.add_flag(
      "--pipeline", local.pipeline,
      "--local greedy: each stage runs on ranks of its own, which send its outputs to the next "
      "stage; with --reproducible the weights are the same as without --pipeline, bit for bit");
  recipe
      .add_option("--stage-ranks", local.stage_ranks,
                  "--pipeline: number of ranks of each stage, in order (default: more ranks for "
                  "stages with more multiply-adds)")
      .type_name("N,N...");
}

void add_recipe_flags(Verb verb, TrainChoice& o) {
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
                  "PATTERN,...: parameters without weight decay and LARS scaling (default: biases "
                  "and batch norm; * stands for any characters); none: all are decayed")
      .delimiter(',');
  add_loss_flags(recipe, t.recipe.loss);
  add_local_flags(recipe, t.recipe.local);
  recipe.add_option("--seed", t.recipe.seed, "Seed of weights, order and augmentation")
      .check(seeds())
      .show_default();
}

void add_all_reduce_flags(Verb group, train::AllReduceOptions& all_reduce,
                          std::uint64_t& bucket_kib) {
  group
      .add_option("--schedule", all_reduce.schedule,
                  "Algorithm of the all-reduce of gradients. auto: on one machine, over shared "
                  "memory; on several, the fastest for each size, by a short measurement of the "
                  "network when the run begins or its ranks change")
      .show_default();
  group
      .add_option("--colors", all_reduce.grain.colors,
                  "Number of trees of the schedules multicolor and hierarchical")
      .check(whole_in(1, 64))
      .show_default();
  group.on_flag(
      "--bf16-gradients", [&all_reduce] { all_reduce.wire = comm::Wire::kBF16; },
      "Send gradients and running statistics between ranks in bf16: half the bytes; sums are in "
      "f32, and rounded at each hop");
  group.add_flag("--error-feedback", all_reduce.error_feedback,
                 "With --bf16-gradients: error feedback. A rank adds the rounding error of its "
                 "gradients to those of the next step; reset at each checkpoint");
  group.add_flag("--comm-checksum", all_reduce.checksums,
                 "Send a checksum with each message between ranks; a damaged message ends the run "
                 "with an error that names both ranks");
  group
      .add_option("--bucket-size", bucket_kib,
                  "KiB of gradients reduced at a time. 0: 1024; with --schedule auto on several "
                  "machines, the size with the shortest measured wait after the backward pass")
      .check(whole_in(0, 1 << 22))
      .show_default();
}

void add_execution_flags(Verb verb, TrainChoice& o) {
  train::TrainOptions& t = o.train;
  const Verb execution = verb.add_group("Execution");
  execution.add_option("--backend", t.execution.backend, "Backend that computes").show_default();
  execution.add_option("--dtype", o.given.dtype, "Precision of activations")
      .one_of({"f32", "bf16", "f16", "tf32"})
      .show_default();
  execution
      .add_option("--loss-scale", o.given.loss_scale,
                  "With --dtype f16: the loss scale, a power of two; auto: starts at 65536, halves "
                  "on overflow, which repeats the step, and doubles after 2000 steps without one")
      .show_default();
  execution.add_option("--threads", o.threads, "CPU cores per rank; 0: its share of the machine")
      .check(cores())
      .show_default();
  execution
      .add_option("--memory-limit", o.memory_mib,
                  "Memory limit of a rank: 8G, 512M or a number of MiB. It limits the batches "
                  "prepared ahead, and the lanes, each of which computes one micro-batch at a "
                  "time. 0: the memory that the machine has left")
      .in_mib()
      .check(whole_in(0, kMostMib))
      .show_default();
  execution
      .add_option("--lane-threads", t.execution.lanes.threads,
                  "Threads of each lane, which computes one micro-batch at a time while other "
                  "lanes compute others. 0: as in the run's plan; else 1 with --reproducible; else "
                  "as few as keep all cores busy. Another number changes the last bits of the "
                  "weights, even with --reproducible")
      .check(cores())
      .show_default();
  execution.add_flag(
      "--reproducible", t.execution.reproducible,
      "The same weights, bit for bit, on any number of ranks, cores and lanes (which compute a "
      "micro-batch each), with any schedule and buckets; for the same --lane-threads, kernels, "
      "instruction set and library");
  add_all_reduce_flags(execution, t.execution.all_reduce, o.bucket_kib);
}

void add_evaluation_flags(Verb group, train::EvaluationOptions& evaluation) {
  group
      .add_option("--eval-every", evaluation.interval,
                  "Steps between evaluations on val; 0: at the end of each epoch")
      .check(whole_in(0, kMostCount))
      .show_default();
  group.add_option(
      "--keep-best", evaluation.keep_best,
      "METRIC[:SPLIT]: also keep the checkpoint with the best evaluation, as "
      "checkpoints/best: top1, top5, top1_leak_free, map or loss, of val or val_ema; see "
      "--holdout");
  group.add_option("--tta", evaluation.tta,
                   "Test-time augmentation in all evaluations of the run, including those of "
                   "--keep-best: see winnow eval --tta");
  group
      .add_option("--early-stop", evaluation.patience,
                  "Early stopping: end after this many evaluations without an improvement of "
                  "--keep-best's metric; 0: never")
      .check(whole_in(0, kMostCount))
      .show_default();
}

}  // namespace

void add_shuffle_flags(Verb verb, pipeline::ShuffleOptions& options) {
  verb.add_option(
          "--shuffle-fraction", options.fraction,
          "Fraction of the samples of each partition that an epoch exchanges with the other "
          "partitions; 1: all samples are shuffled together, 0: each partition keeps its "
          "samples, except those that it has no room for, as partitions differ in size")
      .check(real_in(0.0, 1.0))
      .show_default();
  verb.add_option(
          "--partitions", options.partitions,
          "Number of partitions of the samples, by a hash of their ids. A global batch takes "
          "consecutive rows from each partition, except for exchanged samples. The order does not "
          "depend on the number of ranks. No effect with --shuffle-fraction 1")
      .check(whole_in(1, kMostCount))
      .show_default();
}

Verb add_train_flags(Verb verb, TrainChoice& flags) {
  add_training_recipe_flags(verb, flags.recipe);
  const Verb data = add_data_flags(verb, flags);
  add_start_flags(verb, flags);
  add_recipe_flags(verb, flags);
  add_execution_flags(verb, flags);
  return data;
}

void add_pause_flags(Verb group, train::RunOptions& run) {
  group
      .add_option("--recovery-interval", run.checkpoints.interval,
                  "Steps between checkpoints inside an epoch; 0: only at the end of each epoch")
      .check(whole_in(0, kMostCount))
      .show_default();
  group
      .add_option("--max-steps", run.max_steps,
                  "Stop after this many steps, counted from the first step of the run; 0: no limit")
      .check(whole_in(0, kMostCount))
      .show_default();
  add_evaluation_flags(group, run.evaluation);
}

}  // namespace winnow::tools

#include <memory>
#include <string>

#include "app/tune_lr/tune_lr.h"
#include "common/json.h"
#include "tools/command.h"
#include "tools/numbers.h"
#include "tools/run_flags.h"

namespace winnow::tools {
namespace {

std::string tune_lr_footer() {
  constexpr const char* kTried =
      R"(Values to try are a list, --lr 0.1,0.2,0.4; a range, --lr 0.01:1, for --trials random ones; or for one
optimiser only, --lr lars=2,8,32. Each optimiser gets the same number of trials and epochs at each batch
size. Default without --trials: seven rates, a warm-up of a tenth of the epochs, and each optimiser's own
decay. Default with --trials: rates and decays from the ranges below, and a warm-up of up to a fifth of
the epochs.

Default ranges. Rates are for a batch of 512 and scale with its square root, except those of lars and
lars_paper:)";
  return kTried + tune_ranges_help() +
         R"(

Words after -- go to winnow train, the same for all runs; an option that only some optimisers have
applies to these only. Unless they name a --recipe, all runs have the plain defaults (--recipe none),
because the net's own recipe fits one optimiser only.
With --halving all trials are short, the best third is trained anew three times as long, and so on up
to --epochs. Finished runs are kept: stop at any time, and resume with the same command. The same
command on another machine that sees the folder of --out shares the work.

Examples:
  winnow tune-lr cache --out tuning -- --net resnet20
  winnow tune-lr cache --out tuning --lr 0.1,0.2,0.4 --weight-decay 1e-4,5e-4 --batch-sizes 512
  winnow tune-lr cache --out tuning --optimizers sgd,lars,lamb --batch-sizes 512,2048,8192 \
    --trials 27 --halving --epochs 27 --lanes 2 -- --net resnet20)";
}

void add_space_flags(Verb verb, TuneLrRequest& o) {
  verb.add_option("--optimizers", o.tune.optimizers, "Optimisers to tune, as for winnow train")
      .delimiter(',')
      .one_each()
      .show_default();
  verb.add_option("--batch-sizes", o.tune.arms.batches,
                  "Batch sizes at which each optimiser is tuned")
      .delimiter(',')
      .one_each()
      .check(whole_in(1, 1 << 30))
      .show_default();
  for (std::size_t i = 0; i < kTuneFlags.size(); ++i) {
    verb.add_option("--" + std::string(kTuneFlags[i].flag), o.axes[i],
                    std::string(kTuneFlags[i].help))
        .one_each()
        .type_name("[OPTIMIZER=]LIST|A:B");
  }
  verb.add_option("--trials", o.tune.arms.trials,
                  "Number of random settings to try; 0: every combination of the lists")
      .check(whole_in(0, 10'000))
      .show_default();
  verb.add_flag("--halving", o.tune.halving,
                "Train all trials for a short time, then the best third of them three times as "
                "long, and so on");
}

void add_run_flags(Verb verb, TuneLrRequest& o) {
  verb.add_option("--epochs", o.tune.arms.epochs, "Epochs of the longest trials and the final runs")
      .check(real_above(0, kMostEpochs))
      .show_default();
  verb.add_option("--seeds", o.tune.seeds,
                  "Final runs of each best setting, with new seeds; 1 gives no confidence interval")
      .check(whole_in(1, 100))
      .show_default();
  verb.add_option("--seed", o.tune.arms.seed, "Seed of the trials and of random settings")
      .check(seeds())
      .show_default();
  verb.add_option("--selection", o.tune.selection, "Selection of winnow dedup to use");
  verb.add_option("--holdout", o.tune.holdout,
                  "Share of the training samples on which runs are judged, split by duplicate "
                  "group; only --test uses the test split")
      .check(real_in(0.001, 0.9))
      .show_default();
  verb.add_option("--margin", o.margin_points,
                  "Accuracy difference, in points, that does not matter")
      .check(real_in(1e-6, 100.0))
      .show_default()
      .type_name("POINTS");
  add_lane_flags(verb, o.lanes, o.threads);
  verb.add_flag("--test", o.test,
                "Evaluate the final runs on test, too: do so once, when nothing is left to choose");
  verb.add_flag(
      "--estimate", o.estimate,
      "Only estimate the number of runs, their time and their memory, by training a few steps");
  verb.add_flag("--json", o.json, "Print one JSON object on stdout");
}

}  // namespace

Command add_tune_lr(Verb program) {
  auto o = std::make_shared<TuneLrRequest>();
  const Verb verb =
      program.add_verb("tune-lr", "Tune the learning rate of each optimiser at each batch size");
  verb.add_option("cache", o->tune.cache, "Cache made by winnow ingest").required();
  verb.add_option("train", o->tune.train, "After --: words for winnow train");
  verb.add_option("--out", o->out, "Folder of the tuning: runs, results, table.csv, page.html")
      .required();
  add_space_flags(verb, *o);
  add_run_flags(verb, *o);
  verb.footer(tune_lr_footer());
  return {verb, false, [o](Session& session) { run_tune_lr(*o, session); }, /*stops=*/true};
}

}  // namespace winnow::tools

#include <memory>

#include "app/experiment/sweep_table.h"
#include "app/sweep/sweep.h"
#include "common/json.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/numbers.h"
#include "tools/run_flags.h"

namespace winnow::tools {
namespace {

constexpr const char* kSweepFooter =
    R"(Give the amounts to remove by --threshold, --removed, --verify or several of them. Words after -- go to
winnow train, the same for all runs. Each point is compared with a control, trained without a random
subset of the same size in each class. Runs are judged on a hold-out of the training samples; test is
evaluated once, after the choice. Finished runs are kept: stop the sweep at any time, and resume it with
the same command. The same command on another machine that sees the folder of --out shares the work.

Examples:
  winnow sweep cache --out sweep --removed 0.1,0.25,0.5 --estimate -- --net resnet20
  winnow sweep cache --out sweep --removed 0.1,0.25,0.5 -- --net resnet20
  winnow sweep cache --out sweep --hash phash,ahash --threshold 4,8,12 --seeds 5 --lanes 2
  winnow sweep cache --out sweep --removed 0.25 --verify
  winnow sweep cache --out sweep --removed 0.25 --mode keep,weight,one_per_group --equal epochs)";

void add_axes_flags(Verb verb, SweepRequest& o) {
  verb.add_option("--hash", o.sweep.axes.hashes, "Hashes whose duplicates are removed: phash,ahash")
      .delimiter(',')
      .one_each()
      .show_default();
  verb.add_option("--threshold", o.sweep.axes.thresholds, "Thresholds in bits: 4,6,8")
      .check(whole_in(0, kMostBits))
      .delimiter(',')
      .one_each();
  verb.add_option(
          "--removed", o.sweep.axes.removed,
          "Shares of the training samples to remove, the nearest duplicates first: 0.1,0.25")
      .check(real_in(0, 1))
      .delimiter(',')
      .one_each();
  verb.add_flag("--verify", o.sweep.axes.pictures,
                "Also try the removal of winnow dedup --verify, by comparing pictures; they are "
                "compared once, and results are stored in --out");
  verb.add_option("--keep", o.keeps,
                  "Which image of a group is kept, as for winnow dedup (whose default is best): "
                  "best,largest")
      .delimiter(',')
      .one_each()
      .show_default();
  verb.add_option("--mode", o.modes,
                  "How to treat a group: keep one, share a weight, or take one per epoch: "
                  "keep,weight,one_per_group")
      .delimiter(',')
      .one_each()
      .show_default();
}

}  // namespace

Command add_sweep(Verb program) {
  auto o = std::make_shared<SweepRequest>();
  const Verb verb = program.add_verb(
      "sweep", "Measure how much of a cache can be removed without loss of accuracy");
  verb.add_option("cache", o->sweep.cache, "Cache made by winnow ingest").required();
  verb.add_option("train", o->sweep.train, "After --: words for winnow train");
  verb.add_option("--out", o->out,
                  "Folder of the sweep: page.html, table.csv, classes.csv, its runs")
      .required();
  add_axes_flags(verb, *o);
  verb.add_option("--equal", o->sweep.equal,
                  "Length of training with fewer samples: the same number of epochs, which is less "
                  "work, or the same number of steps, which is the same work")
      .delimiter(',')
      .one_each()
      .one_of({"epochs", "steps"})
      .show_default();
  verb.add_option("--epochs", o->sweep.epochs, "Epochs on all training samples")
      .check(real_above(0, kMostEpochs))
      .show_default();
  verb.add_option("--seeds", o->sweep.seeds, "Seeds per arm; 1 gives no confidence interval")
      .check(whole_in(1, 100))
      .show_default();
  verb.add_option("--holdout", o->sweep.holdout,
                  "Share of the training samples on which runs are judged, split by duplicate "
                  "group; test is evaluated after the choice")
      .check(real_in(0.001, 0.9))
      .show_default();
  verb.add_option("--margin", o->margin_points,
                  "Largest accuracy loss, in points, that counts as no loss")
      .check(real_in(1e-6, 100.0))
      .show_default()
      .type_name("POINTS");
  verb.add_option("--most-images", o->most_images,
                  "Recommend the most accurate point that keeps at most this many training "
                  "samples, instead of the point that removes most without loss")
      .check(whole_in(1, std::int64_t{1} << 40))
      .type_name("N");
  verb.add_flag("--all-seeds", o->all_seeds,
                "Train all seeds, even of points that lost accuracy with the first three");
  add_lane_flags(verb, o->lanes, o->threads);
  verb.add_flag("--estimate", o->estimate,
                "Only estimate the number of runs, their time and their memory, by training a few "
                "steps. Comparisons of pictures are stored for the sweep");
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  verb.footer(kSweepFooter);
  return {verb, false, [o](Session& session) { run_sweep(*o, session); }, /*stops=*/true};
}

}  // namespace winnow::tools

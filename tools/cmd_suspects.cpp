#include <filesystem>

#include "app/suspects/suspects.h"
#include "common/json.h"
#include "dedup/review/review_log.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/help.h"
#include "tools/numbers.h"

namespace winnow::tools {

Command add_suspects(Verb program) {
  auto o = std::make_shared<SuspectsRequest>();
  const Verb verb = program.add_verb("suspects", "List probable label errors and outliers");
  verb.add_option("cache", o->cache, "Cache made by winnow ingest").required();
  verb.add_option("--run", o->sources.run,
                  "Find label errors with a run of winnow train --folds: each image is predicted "
                  "by the net that was not trained on it");
  verb.add_option("--features", o->sources.features,
                  "Find outliers, and label errors by the labels of the nearest images, with these "
                  "features of winnow embed");
  verb.add_option("--by", o->prune, "Which label errors are listed, see below").show_default();
  verb.add_option("--order", o->order, "Score that orders label errors, the smallest first")
      .show_default();
  verb.add_option("--neighbours", o->how.neighbours, "With --features: number of nearest images")
      .check(whole_in(1, 1000))
      .show_default();
  verb.add_option("--outlier-score", o->how.outlier_score,
                  "With --features: list images with a score below this as outliers. Below 0.5: "
                  "the distance to the nearest images exceeds the upper quartile by more than "
                  "three interquartile ranges")
      .check(real_in(0.0, 1.0))
      .show_default();
  verb.add_option("--top", o->top, "Largest number of images to list for each issue; 0: all")
      .check(whole_in(0, kMostCount))
      .show_default();
  verb.add_option("--review", o->reviews,
                  "Leave out images that this file of winnow review keeps or drops; repeatable")
      .repeatable();
  verb.add_option("--list", o->output.list,
                  "Write the list to this file instead of the standard output; JSON lines if it is "
                  "called *.jsonl, else CSV");
  verb.add_option("--report", o->output.report,
                  "Write an HTML page to view and judge the listed images, as a single file");
  verb.add_option(
      "--drop-into", o->output.drops,
      "Add decisions to this review file that drop all listed images, for winnow dedup --review");
  verb.add_flag("--json", o->output.json, "Print one JSON object on stdout");
  verb.footer("Ways to list label errors (Northcutt, Jiang, Chuang: Confident Learning, 2021):" +
              table_of(dedup::prunings()) +
              "\nScores of label errors:" + table_of(dedup::suspect_orders()) + R"(

Scores go from 0, the worst, to 1. Nothing is removed: look at the page, decide which images go,
and pass the file that it saves to winnow dedup --review.

Examples:
  winnow train cache --out cv --folds 4 && winnow suspects cache --run cv --report suspects.html
  winnow suspects cache --run cv --top 100 > look_at.csv
  winnow embed cv/fold-1 cache --name net && winnow suspects cache --features net
  winnow suspects cache --run cv --top 20 --drop-into review.jsonl
  winnow dedup cache --review review.jsonl --name cleaned)");
  return {verb, false, [o](Session& session) { run_suspects(*o, session); }, /*stops=*/true};
}

}  // namespace winnow::tools

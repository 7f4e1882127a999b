
#include "app/tune/tune.h"
#include "app/tune/tune_report.h"
#include "common/json.h"
#include "tools/command.h"
#include "tools/dedup_flags.h"
#include "tools/flags/flags.h"
#include "tools/numbers.h"

namespace winnow::tools {

Command add_tune(Verb program) {
  auto o = std::make_shared<TuneRequest>();
  const Verb verb = program.add_verb("tune", "Show what each threshold would find in a cache");
  verb.add_option("cache", o->cache, "Cache made by winnow ingest").required();
  verb.add_option("--hash", o->hashes, "Hashes to measure; default: all that the cache has")
      .delimiter(',');
  verb.add_option(
          "--most", o->most,
          "Largest threshold to measure, in bits (default: the largest at which chance alone makes "
          "no more pairs than there are images)")
      .check(whole_in(0, kMostBits));
  add_demand_flags(verb, "--", o->demand);
  add_quality_flag(verb, "--", o->demand);
  add_verify_flags(verb, "--", o->demand);
  verb.add_option("--images", o->recall.images,
                  "Number of pictures of which edited copies are hashed, to measure recall; 0: do "
                  "not measure it")
      .check(whole_in(0, kMostCount))
      .show_default();
  verb.add_option("--seed", o->recall.seed, "Seed of random choices").check(seeds()).show_default();
  verb.add_option("--review", o->reviews,
                  "Also show the precision of thresholds by the decisions in this file of winnow "
                  "review; repeatable")
      .repeatable();
  verb.add_option("--plot", o->output.plot, "Write precision and recall as a picture, SVG, here");
  verb.add_option("--report", o->output.report,
                  "Write an HTML page as a single file: the curves, and pairs around the threshold "
                  "to view and judge");
  verb.add_option("--threads", o->recall.threads, "Number of CPU cores; 0: all available")
      .check(cores())
      .show_default();
  verb.add_flag("--json", o->output.json, "Print one JSON object on stdout instead of tables");
  verb.footer(
      R"(The recommendation is what dedup, export, ingest --drop, split and others do by default: they
compare the pictures, which finds near codes and more. For more than 100,000 images, for
pictures with few details and with --no-verify, codes decide: the largest threshold with fewer
than 0.5 expected false pairs, of the hash that finds most within it. --risk and --precision
ask for another choice.
Precision is the share of duplicates among the pairs within a threshold. It is estimated from
labels: two different images have different labels as often as two random ones. Without labels
it is estimated from the distances of random pairs. Both are too optimistic if different images
that look alike share a class: judge a sample where it matters (winnow review --sample 200).
Recall is the share of your pictures that are found again after they were cropped by up to 10 %,
scaled, changed in gamma and encoded as JPEG, all at once. Your copies may be edited otherwise,
so look at the edits that matter to you.
With judged pairs, precision lies between 'at least' and 'at most' with 95 % confidence if the
pairs were drawn by winnow review --sample. 'found' is the share of the duplicates within the
last threshold that each threshold finds.

)"
      "Examples:\n"
      "  winnow tune cache\n"
      "  winnow tune cache --hash phash --precision 0.95 --plot phash.svg\n"
      "  winnow tune cache --report thresholds.html   # to look at pairs near the threshold\n"
      "  winnow tune cache --review said.jsonl\n"
      "  winnow tune cache --json | jq '.hashes[0].thresholds[6]'");
  return {verb, false, [o](Session& session) { run_tune(*o, session); }, true};
}

}  // namespace winnow::tools

#include <memory>

#include "app/info/issues.h"
#include "app/review/review.h"
#include "common/json.h"
#include "common/json_reader.h"
#include "dedup/review/review_log.h"
#include "tools/command.h"
#include "tools/dedup_flags.h"
#include "tools/flags/flags.h"
#include "tools/numbers.h"

namespace winnow::tools {

Command add_review(Verb program) {
  auto o = std::make_shared<ReviewRequest>();
  const Verb verb =
      program.add_verb("review", "Judge groups of duplicates or flagged pictures in a browser");
  verb.add_option("cache", o->cache,
                  "Cache to review; to show groups, it needs a selection of winnow dedup")
      .required();
  verb.add_option("--name", o->name,
                  "Selection whose groups, or decisions on single pictures, are shown")
      .show_default();
  verb.add_option("--review", o->review,
                  "File that judgements are added to (default: reviews/NAME.jsonl in the cache)");
  verb.add_option("--port", o->port, "Port of 127.0.0.1 to listen on; 0: any that is free")
      .check(whole_in(0, 65'535))
      .show_default();
  const Flag issues = add_issues_flag(
      verb, o->instead.issues,
      "Instead of groups, show pictures that are dark, blurry, odd and so on, or have one of these "
      "issues, as blurry,dark; the worst of each first");
  verb.add_option("--sample", o->instead.sample,
                  "Instead of groups, show this many random pairs, drawn to estimate the precision "
                  "of the selection well (winnow tune --review)")
      .check(whole_in(1, kMostCount))
      .excludes(issues);
  verb.add_option("--seed", o->instead.seed, "Another seed draws other pairs")
      .check(seeds())
      .show_default();
  verb.add_option("--source", o->sources,
                  "The data sets that the cache was made of, in the same order; needed for a cache "
                  "of --store none, which has no pictures");
  verb.add_flag("--json", o->json, "Print one JSON object on stdout at the end");
  verb.footer(
      R"(The page is for a browser on this machine, and for whoever has the whole address: its second
part is a secret that is new each time. A judgement is on disk before the page says that it
is saved, so nothing is lost however the program ends. When started again, it shows earlier
judgements. Images are identified by their content, so a review also applies to other caches
of the same files. Ctrl-C ends it, with exit code 75.

)"
      "Examples:\n"
      "  winnow dedup cache --name near\n"
      "  winnow review cache --name near\n"
      "  winnow review cache --name near --sample 300   # how many of the pairs are duplicates?\n"
      "  winnow review cache --issues blurry,dark       # which of these should go?\n"
      "  winnow review cache --name near --review near.jsonl --port 8080\n"
      "  ssh -L 8080:127.0.0.1:8080 server              # then open the address here");
  return {verb, false, [o](Session& session) { run_review(*o, session); }, true};
}

}  // namespace winnow::tools

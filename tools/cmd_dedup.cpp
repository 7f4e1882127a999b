#include <memory>
#include <string>

#include "app/dedup/dedup.h"
#include "tools/command.h"
#include "tools/dedup_flags.h"
#include "tools/flags/flags.h"
#include "tools/help.h"
#include "tools/ingest_flags.h"
#include "tools/numbers.h"

namespace winnow::tools {

namespace {

std::string dedup_footer() {
  return "Hashes:" + hash_lines() +
         R"(

Nothing is deleted: a selection is a decision that can be changed at any time.
Without --hash and --threshold, they follow from the images: the stored hash that finds most,
at the largest threshold with fewer than 0.5 expected false pairs (docs/thresholds.md). The
output says which, what it finds and what it misses.
Up to 100,000 images with enough details are also compared themselves, as with --verify,
unless --hash, --threshold, --risk, --precision or --no-verify says otherwise.
Under mpirun ranks share the search and the comparison of pictures; rank 0 does the rest, and
only rank 0 needs the files.
A selection of the same name is kept as NAME.previous.

)"
         "Examples:\n"
         "  winnow dedup photos/ > duplicates.csv        # a data set, in place\n"
         "  winnow dedup cache\n"
         "  winnow dedup cache --report duplicates.html  # to look at them\n"
         "  winnow dedup cache --no-verify               # by codes alone\n"
         "  winnow dedup cache --risk 10                 # by codes: more copies, and some "
         "false ones\n"
         "  winnow dedup cache --precision 0.95          # by codes, at this precision\n"
         "  winnow dedup cache --hash phash --threshold 6\n"
         "  winnow dedup cache --verify                  # by the pictures, however many there "
         "are\n"
         "  winnow dedup cache --features default --cosine 0.97   # made by winnow embed\n"
         "  winnow dedup cache --features default --cosine 0.7 --verify   # then compares "
         "pictures\n"
         "  winnow dedup cache --hash exact --name exact --list-groups groups.csv\n"
         "  winnow dedup cache --scope across --on-leak move   # no split shares a picture\n"
         "  winnow dedup cache --review said.jsonl --prefer 'originals/**' --protect 'gold/**'\n"
         "  mpirun -np 4 winnow dedup cache              # the same selection, sooner\n"
         "  winnow dedup cache --drop-issues blurry,dark --list-issues bad.csv\n"
         "  winnow dedup cache --on-leak fail --json     # in continuous integration";
}

}  // namespace

Command add_dedup(Verb program) {
  auto o = std::make_shared<DedupRequest>();
  const Verb verb =
      program.add_verb("dedup", "Find duplicates and leaks; write a selection for training");
  verb.add_option("cache", o->cache,
                  "Cache made by winnow ingest, or a data set, as for ingest. A data set is read "
                  "in place, and the images to remove are printed as CSV")
      .required();
  verb.add_option("--name", o->name, "Name of the selection of a cache").show_default();
  add_dedup_flags(verb, "--", o->deciding.flags);
  add_feature_flags(verb, o->deciding.features);
  verb.add_option("--splits", o->deciding.splits,
                  "Use the splits of this selection, such as one of winnow split; what it removes "
                  "stays removed");
  add_reading_flags(verb, o->reading);
  add_list_flags(verb, o->lists);
  add_report_flag(verb, o->report);
  verb.add_option("--self-check", o->deciding.self_check,
                  "Self-check: compare this many random images with all others one by one, and "
                  "fail if the search found other pairs")
      .check(whole_in(0, kMostCount));
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  verb.footer(dedup_footer());
  shorten_help(verb,
               {"--threshold", "--precision", "--verify", "--keep", "--on-leak", "--protect",
                "--review", "--report", "--list", "--name", "--json"},
               R"(Examples:
  winnow dedup photos --report page.html       # a data set in place, and a page
  winnow dedup cache                           # a selection for training
  winnow dedup cache --precision 0.95          # by codes alone, at this precision
  winnow dedup cache --on-leak fail --json     # in continuous integration)");
  return {verb, true,
          [o, verb](Session& session) {
            o->words = words_of(verb);
            run_dedup(*o, session);
          },
          true};
}

}  // namespace winnow::tools

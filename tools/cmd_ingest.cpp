#include <malloc.h>

#include <memory>
#include <string>

#include "app/ingest/ingest.h"
#include "app/page/ingest_page.h"
#include "common/json.h"
#include "pipeline/ingest/ingest.h"
#include "tools/command.h"
#include "tools/dedup_flags.h"
#include "tools/flags/flags.h"
#include "tools/help.h"
#include "tools/ingest_flags.h"

namespace winnow::tools {
namespace {

std::string ingest_footer() {
  return "Formats:" + format_lines() + skipped_lines() +
         R"(

SIGTERM, SIGUSR1 or SIGHUP stops it (exit code 75). After any interruption, the same command
resumes after the finished shards. Under mpirun ranks share the shards, and the search of --drop.

--augment runs a recipe once, for machines that train faster than they decode: shards hold
pixels of --image-size, --copies variants of each training image and one unchanged copy of
others. An epoch still has every sample once; the variant follows from the run's seed, the
epoch and the id, and each is seen once in --copies epochs. Fingerprints are of the image
itself. A variant takes height x width x 3 bytes; --estimate prints the total. A hold-out
(train --holdout) is evaluated on variants, because nothing else is stored of training images.

)"
         "Examples:\n"
         "  winnow ingest photos/ --out cache                 # photos/{train,test}/<class>/*.jpg\n"
         "  winnow ingest photos/ --out cache --labels none   # only to find duplicates\n"
         "  winnow ingest photos/ --out cache --exclude 'draft*' --exclude '*_small.jpg'\n"
         "  winnow ingest photos/ --out cache --max-bad 1%    # a few broken files are fine\n"
         "  winnow ingest phone/ --out cache --orientation apply --matte white\n"
         "  winnow ingest photos/ --out cache --resize 256    # a sixth of the bytes\n"
         "  winnow ingest photos/ --out cache --augment cifar --copies 10 --image-size 64\n"
         "                                                    # train without decoding (see "
         "above)\n"
         "  winnow ingest photos/ --out cache --hash phash@1/8,dhash@1/8   # large JPEGs, faster\n"
         "  winnow ingest photos/ --out cache --report photos.html\n"
         "  winnow ingest photos/ --out cache --estimate      # how long would it take?\n"
         "  winnow ingest 'train-{000000..000146}.tar' --out cache\n"
         "  winnow ingest more/ --into cache                  # after the existing sources\n"
         "  winnow ingest photos/ --out cache --retry-failed  # the broken files were replaced\n"
         "  winnow ingest photos/ --out cache --drop             # without near "
         "duplicates\n"
         "  mpirun -np 4 winnow ingest photos/ --out /shared/cache\n"
         "  winnow ingest /usr/share/datasets/fashion-mnist --out cache --memory";
}

void add_gate_flags(Verb whole, GateOptions& flags) {
  const Verb verb = whole.titled("Gates");
  verb.add_option("--fail-on", flags.fail_on,
                  "Exit with code 3, after the cache is made, if there are such inputs. truncated: "
                  "files that end early; error: all unreadable inputs; warning: these, and images "
                  "read with a warning of the decoder")
      .one_of({"none", "truncated", "error", "warning"})
      .show_default();
  verb.add_option(
      "--max-bad", flags.max_bad,
      "Exit with code 3, after the cache is made, if more inputs than this could not be "
      "read: a number, or a share such as 0.5%");
}

}  // namespace

Command add_ingest(Verb program) {
  auto o = std::make_shared<IngestRequest>();
  const Verb verb =
      program.add_verb("ingest", "Read, decode, fingerprint and store a data set into a cache");
  verb.add_option("sources", o->sources, "Data sets: folders, or files that each hold one data set")
      .required();
  verb.add_option("--out", o->out, "Cache directory to make");
  verb.add_option("--into", o->into,
                  "Finished cache to add the sources to; flags that shape its content default to "
                  "the cache's settings. The result equals one ingest of all sources");
  verb.add_flag(
      "--retry-failed", o->task.retry,
      "Read again only the inputs that the finished cache --out could not read: give its sources "
      "once they are repaired or their storage is back. The result equals a new ingest of all");
  verb.add_flag("--memory", o->task.memory, "Keep the shards in memory (tmpfs) until `cache drop`");
  add_ingest_flags(verb, o->flags);
  const Flag drop = verb.add_flag(
      "--drop", o->task.drop,
      "Leave out duplicates: fingerprint all images (in CACHE.first, removed at the end), decide, "
      "then store only the kept images; the ledger names the kept image of each duplicate");
  for (const Flag option : add_dedup_flags(verb, "--drop-", o->drop_flags)) {
    option.needs(drop);
  }
  add_gate_flags(verb, o->gate);
  verb.add_option("--report", o->output.report,
                  "Also write a page (HTML): what was read, what was not, and what took the time");
  verb.add_flag("--estimate", o->task.estimate,
                "Make no cache: estimate time, size and bottleneck from some seconds of ingesting");
  verb.add_flag("--json", o->output.json, "Print one JSON object on stdout");
  verb.footer(ingest_footer());
  shorten_help(verb,
               {"--out", "--into", "--labels", "--exclude", "--hash", "--resize", "--max-bad",
                "--report", "--estimate", "--threads"},
               R"(Examples:
  winnow ingest photos/ --out cache                 # photos/{train,test}/<class>/*.jpg
  winnow ingest photos/ --out cache --labels none   # only to find duplicates
  winnow ingest photos/ --out cache --estimate      # how long would it take?
  mpirun -np 4 winnow ingest photos/ --out /shared/cache)");
  return {verb, true,
          [o, verb](Session& session) {
            o->output.words = words_of(verb);
            for (const char* flag : kKeptByCache) {
              if (verb.given(flag)) o->flags.given.insert(flag);
            }
            if (verb.given("--memory-limit")) o->flags.given.insert("--memory-limit");
            run_ingest(*o, session);
          },
          /*stops=*/true};
}

}  // namespace winnow::tools

#include <memory>

#include "app/bench/shuffle.h"
#include "pipeline/store/cache.h"
#include "tools/benches.h"
#include "tools/flags/flags.h"
#include "tools/numbers.h"
#include "tools/shuffle_flags.h"

namespace winnow::tools {

SubVerb add_bench_shuffle(Verb bench) {
  auto o = std::make_shared<ShuffleBenchRequest>();
  const Verb verb = bench.add_verb(
      "shuffle",
      "How well training samples are mixed where an epoch exchanges a fraction of each partition "
      "alone, beside a global shuffle, for several fractions");
  verb.add_option("cache", o->cache, "Cache made by winnow ingest").required();
  verb.add_option("--selection", o->selection, "Selection made by winnow dedup to obey");
  add_shuffle_flags(verb, o->shuffle);
  const Flag fraction = verb.flag("--shuffle-fraction");
  fraction.description("Only this one, instead of 0, 0.05, 0.1, 0.25, 0.5 and 1").show_default("");
  verb.add_option("--batch-size", o->batch, "Images of a global batch")
      .check(whole_in(1, 1 << 20))
      .show_default();
  verb.add_option("--seed", o->seed, "Of the orders").check(seeds()).show_default();
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  verb.footer(
      R"(away: share of the samples used in a lane that is not their partition's, the most that
travels where machines hold partitions; expected: the fraction times 1 - 1/partitions.
moved: how far a sample comes from its place in the epoch before, of an epoch; 1/3 at best.
meetings: how often two samples that share a lane of a batch do so again an epoch later.
classes: entropy of the classes in a lane of a batch.
Both as multiples of what a global shuffle comes to.)");
  return {verb, [o, fraction](Session& session) { bench_shuffle(*o, fraction.given(), session); }};
}

}  // namespace winnow::tools

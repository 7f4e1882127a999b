#include <memory>

#include "app/bench/hash.h"
#include "common/image.h"
#include "tools/benches.h"
#include "tools/flags/flags.h"
#include "tools/numbers.h"

namespace winnow::tools {

SubVerb add_bench_hash(Verb bench) {
  auto o = std::make_shared<HashBenchRequest>();
  const Verb verb = bench.add_verb(
      "hash", "Hashing of decoded pixels on one core, beside making them gray, which is the least");
  verb.add_option("--hash", o->hashes, "Each alone, and all together")
      .delimiter(',')
      .show_default();
  verb.add_option("--width", o->width_px, "Of the pictures")
      .check(whole_in(1, 1 << 14))
      .show_default();
  verb.add_option("--height", o->height_px, "Of the pictures")
      .check(whole_in(1, 1 << 14))
      .show_default();
  verb.add_option("--seconds", o->seconds, "Of each run")
      .check(real_above(0, kMostSeconds))
      .show_default();
  verb.add_option("--rounds", o->rounds, "Runs of each kind, by turns; medians count")
      .check(whole_in(1, kMostCount))
      .show_default();
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  return {verb, [o](Session& session) { bench_hash(*o, session); }};
}

}  // namespace winnow::tools

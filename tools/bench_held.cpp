#include "tools/bench_held.h"

#include <future>

#include "tools/benches.h"
#include "tools/ingest_flags.h"
#include "tools/numbers.h"

namespace winnow::tools {

Verb add_held_bench(Verb bench, const std::string& name, const std::string& what, HeldRequest& o) {
  const Verb verb = bench.add_verb(name, what);
  verb.add_option("source", o.source, "Data set, as of ingest").required();
  verb.add_option("--seconds", o.seconds, "A run goes through the source until it takes so long")
      .check(real_above(0, kMostSeconds))
      .show_default();
  verb.add_option("--rounds", o.rounds, "Runs of each kind, by turns; medians count")
      .check(whole_in(1, kMostCount))
      .show_default();
  verb.add_option("--hold", o.hold_mib,
                  "MiB of inputs to hold in memory; of a larger source a part, evenly spread")
      .check(whole_in(1, kMostMib))
      .show_default();
  verb.add_flag("--json", o.json, "Print one JSON object on stdout");
  add_ingest_flags(verb, o.flags);
  return verb;
}

}  // namespace winnow::tools

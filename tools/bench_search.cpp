#include <memory>

#include "app/bench/search.h"
#include "tools/benches.h"
#include "tools/flags/flags.h"
#include "tools/numbers.h"

namespace winnow::tools {

SubVerb add_bench_search(Verb bench) {
  auto o = std::make_shared<SearchBenchRequest>();
  const Verb verb = bench.add_verb(
      "search",
      "Search for all near pairs of random codes, beside the plan's comparisons and copies alone");
  verb.add_option("--count", o->count, "Of codes; one in a hundred has a neighbour")
      .check(whole_in(2, 4'000'000'000))
      .show_default();
  verb.add_option("--bits", o->bits, "Of a code").check(whole_in(64, 1024)).show_default();
  verb.add_option("--radius", o->radius, "Bits in which near codes differ at most")
      .check(whole_in(0, 1024))
      .show_default();
  verb.add_option("--rounds", o->rounds, "Runs; medians count")
      .check(whole_in(1, kMostCount))
      .show_default();
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  return {verb, [o](Session& session) { bench_search(*o, session); }};
}

}  // namespace winnow::tools

#include <future>
#include <memory>

#include "app/bench/exchange.h"
#include "app/words.h"
#include "common/comm/communicator.h"
#include "tools/benches.h"
#include "tools/flags/flags.h"
#include "tools/numbers.h"

namespace winnow::tools {
namespace {

using comm::Communicator;
using comm::ScheduleOptions;

}  // namespace

SubVerb add_bench_alltoall(Verb bench) {
  auto o = std::make_shared<ExchangeRequest>();
  const Verb verb = bench.add_verb(
      "alltoall",
      "The exchange of data between ranks, beside what one rank alone can send to the next, and "
      "beside MPI's own; under mpirun");
  verb.add_option("-b,--bytes", o->bytes, "That each rank sends, to all others together")
      .in_bytes()
      .check(whole_in(4, std::int64_t{1} << 30))
      .show_default();
  verb.add_option("--segment", o->segment_bytes, "Of a message at most")
      .in_bytes()
      .check(whole_in(4, std::int64_t{1} << 30))
      .show_default();
  verb.add_option("--gradients", o->gradient_bytes,
                  "Also all-reduces of so many bytes, alone and beside running exchanges")
      .in_bytes()
      .check(whole_in(0, std::int64_t{1} << 32))
      .show_default();
  verb.add_option("-n,--rounds", o->rounds, "Runs of each kind, by turns; medians count")
      .check(whole_in(1, kMostCount))
      .show_default();
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  return {verb, [o](Session& session) { bench_alltoall(*o, session); },
          /*uses_ranks=*/true};
}

}  // namespace winnow::tools

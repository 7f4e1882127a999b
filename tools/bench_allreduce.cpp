#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

#include "app/bench/allreduce.h"
#include "common/comm/communicator.h"
#include "tools/benches.h"
#include "tools/flags/flags.h"
#include "tools/numbers.h"

namespace winnow::tools {
namespace {

using comm::Communicator;

}  // namespace

SubVerb add_bench_allreduce(Verb bench) {
  auto o = std::make_shared<AllReduceRequest>();
  const Verb verb = bench.add_verb(
      "allreduce",
      "The all-reduce of gradients by each schedule, beside MPI_Allreduce and what the network "
      "could do, in the columns of nccl-tests; under mpirun");
  const auto size = [&](const std::string& flag, std::uint64_t& value, const std::string& what) {
    verb.add_option(flag, value, what)
        .in_bytes()
        .check(whole_in(4, std::int64_t{1} << 32))
        .show_default();
  };
  size("-b,--min-bytes", o->sizes.least_bytes, "The smallest buffer");
  size("-e,--max-bytes", o->sizes.most_bytes, "The largest buffer");
  const Flag factor = verb.add_option("-f,--factor", o->sizes.factor, "From one size to the next")
                          .check(whole_in(2, 1024))
                          .show_default();
  verb.add_option("-i,--step-bytes", o->sizes.step_bytes,
                  "So many bytes more from one size to the next, in place of a factor")
      .in_bytes()
      .check(whole_in(4, std::int64_t{1} << 32))
      .excludes(factor);
  verb.add_option("-n,--rounds", o->rounds.measured, "Runs of each kind, by turns; medians count")
      .check(whole_in(1, kMostCount))
      .show_default();
  verb.add_option("-w,--warmup-rounds", o->rounds.warmup, "Runs of each kind before those")
      .check(whole_in(0, kMostCount))
      .show_default();
  verb.add_option(
          "-d,--type", o->types,
          "Elements of the buffers: f32, f64, i32, i64, or bf16 and f16, which are summed in "
          "f32 and have no row of MPI_Allreduce")
      .delimiter(',')
      .show_default();
  verb.add_option("--schedule", o->schedules,
                  "Schedules as in winnow train --schedule, or auto: the fastest by prediction; "
                  "all of them if not given")
      .delimiter(',');
  verb.add_option("--colors", o->grain.colors, "Of schedules that have some, but for auto")
      .check(whole_in(1, 64))
      .show_default();
  verb.add_option("--segment", o->grain.segment_elements,
                  "Elements of a message at most, but for auto")
      .check(whole_in(1, kMostBatch))
      .show_default();
  verb.add_flag(
      "--bf16-gradients", o->bf16,
      "Messages of bf16 for f32, as of winnow train --bf16-gradients; MPI_Allreduce's stay "
      "f32");
  verb.add_flag("--comm-checksum", o->checksums,
                "A checksum goes with each message, as of winnow train --comm-checksum; "
                "MPI_Allreduce's have none");
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  return {verb, [o](Session& session) { bench_allreduce(*o, session); },
          /*uses_ranks=*/true};
}

}  // namespace winnow::tools

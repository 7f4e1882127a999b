#include <cstdint>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <type_traits>

#include "app/bench/allreduce.h"
#include "app/bench/decode.h"
#include "app/bench/exchange.h"
#include "app/bench/hash.h"
#include "app/bench/ingest.h"
#include "app/bench/loader.h"
#include "app/bench/search.h"
#include "app/bench/shuffle.h"
#include "app/words.h"
#include "common/comm/communicator.h"
#include "common/image.h"
#include "common/json.h"
#include "pipeline/load/stages.h"
#include "pipeline/store/cache.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/help.h"
#include "tools/ingest_flags.h"
#include "tools/numbers.h"
#include "tools/run_flags.h"
#include "tools/sub_verb.h"
#include "tools/train_flags.h"
#include "train/nets/nets.h"

namespace winnow::tools {
namespace {

constexpr const char* kRuns = "Runs; the median is reported";
constexpr const char* kByTurns = "Runs of each kind, alternating; the median is reported";

void add_rounds_flag(Verb verb, int& rounds, const char* what) {
  verb.add_option("--rounds", rounds, what).check(whole_in(1, kMostCount)).show_default();
}

void add_json_flag(Verb verb, bool& json) {
  verb.add_flag("--json", json, "Print one JSON object on stdout");
}

// Adds a benchmark that decodes a data set from memory. `o` must live as long as the verb, which is
// returned.
Verb add_held_bench(Verb bench, const std::string& name, const std::string& what, HeldRequest& o) {
  const Verb verb = bench.add_verb(name, what);
  verb.add_option("source", o.source, "Data set, as for ingest").required();
  verb.add_option("--seconds", o.seconds,
                  "Minimum duration of a run; the source is repeated until then")
      .check(real_above(0, kMostSeconds))
      .show_default();
  add_rounds_flag(verb, o.rounds, kByTurns);
  verb.add_option("--hold", o.hold_mib,
                  "MiB of inputs to hold in memory; a larger source is sampled evenly")
      .check(whole_in(1, kMostMib))
      .show_default();
  add_json_flag(verb, o.json);
  add_ingest_flags(verb, o.flags);
  shorten_help(verb, {"--seconds", "--rounds", "--hold", "--hash", "--threads", "--json"},
               fmt::format("Example:\n  winnow bench {} photos/", name));
  return verb;
}

SubVerb add_bench_decode(Verb bench) {
  auto o = std::make_shared<HeldRequest>();
  o->seconds = 5;
  const Verb verb = add_held_bench(
      bench, "decode",
      "Decoding from memory on all cores, compared with one core's rate times the cores", *o);
  return {verb, [o](Session& session) { bench_decode(*o, session); }};
}

SubVerb add_bench_ingest(Verb bench) {
  auto o = std::make_shared<IngestBenchRequest>();
  o->held.seconds = 20;
  const Verb verb =
      add_held_bench(bench, "ingest",
                     "A whole ingest, compared with decoding the same images from memory on "
                     "the same cores, and with decoding plus plain writing of their bytes",
                     o->held);
  verb.add_option(
      "--out", o->out,
      "Folder for the caches, which are removed again; empty: the folder for temporary files");
  return {verb, [o](Session& session) { bench_ingest(*o, session); }};
}

SubVerb add_bench_hash(Verb bench) {
  auto o = std::make_shared<HashBenchRequest>();
  const Verb verb = bench.add_verb("hash",
                                   "Hashing of decoded pixels on one core, compared with "
                                   "converting them to gray, which every hash needs");
  verb.add_option("--hash", o->hashes, "Hashes to measure, each alone and all together")
      .delimiter(',')
      .show_default();
  verb.add_option("--width", o->width_px, "Width of the pictures")
      .check(whole_in(1, 1 << 14))
      .show_default();
  verb.add_option("--height", o->height_px, "Height of the pictures")
      .check(whole_in(1, 1 << 14))
      .show_default();
  verb.add_option("--seconds", o->seconds, "Duration of each run")
      .check(real_above(0, kMostSeconds))
      .show_default();
  add_rounds_flag(verb, o->rounds, kByTurns);
  add_json_flag(verb, o->json);
  return {verb, [o](Session& session) { bench_hash(*o, session); }};
}

SubVerb add_bench_search(Verb bench) {
  auto o = std::make_shared<SearchBenchRequest>();
  const Verb verb = bench.add_verb("search",
                                   "Search for all near pairs of random codes, compared with only "
                                   "the comparisons and copies that its plan needs");
  verb.add_option("--count", o->count, "Number of codes; one in a hundred has a neighbour")
      .check(whole_in(2, 4'000'000'000))
      .show_default();
  verb.add_option("--bits", o->bits, "Bits of a code").check(whole_in(64, 1024)).show_default();
  verb.add_option("--radius", o->radius, "Largest number of bits in which near codes differ")
      .check(whole_in(0, 1024))
      .show_default();
  add_rounds_flag(verb, o->rounds, kRuns);
  add_json_flag(verb, o->json);
  return {verb, [o](Session& session) { bench_search(*o, session); }};
}

SubVerb add_bench_loader(Verb bench) {
  auto o = std::make_shared<LoaderBenchRequest>();
  const Verb verb = bench.add_verb(
      "loader",
      "Loading of training batches at full speed, compared with reading, decoding and augmenting "
      "alone; for bare pixels, also with copying them");
  verb.add_option("cache", o->load.cache, "Cache made by winnow ingest").required();
  add_memory_flags(verb, o->load.memory);
  verb.add_option("--augment", o->load.augment, "Augmentation recipe, as for train").show_default();
  verb.add_option("--image-size", o->load.image_side_px,
                  "Side of the images in pixels; 0: their own size")
      .check(whole_in(0, train::kMostSidePx))
      .show_default();
  verb.add_option("--batch-size", o->load.batch, "Images per batch")
      .check(whole_in(1, 1 << 20))
      .show_default();
  add_shuffle_flags(verb, o->load.shuffle);
  verb.add_option("--threads", o->load.threads, "Threads that load; 0: all available")
      .check(cores())
      .show_default();
  verb.add_option("--seconds", o->seconds, "Duration of a run of the loader")
      .check(real_above(0, kMostSeconds))
      .show_default();
  add_rounds_flag(verb, o->rounds, kByTurns);
  add_json_flag(verb, o->json);
  return {verb, [o](Session& session) { bench_loader(*o, session); }};
}

SubVerb add_bench_shuffle(Verb bench) {
  auto o = std::make_shared<ShuffleBenchRequest>();
  const Verb verb = bench.add_verb(
      "shuffle",
      "How well training samples are mixed if an epoch exchanges only a fraction of each "
      "partition, compared with a global shuffle, for several fractions");
  verb.add_option("cache", o->cache, "Cache made by winnow ingest").required();
  verb.add_option("--selection", o->selection, "Selection of winnow dedup to use");
  add_shuffle_flags(verb, o->shuffle);
  const Flag fraction = verb.flag("--shuffle-fraction");
  fraction.description("Only this fraction, instead of 0, 0.05, 0.1, 0.25, 0.5 and 1")
      .show_default("");
  verb.add_option("--batch-size", o->batch, "Images per global batch")
      .check(whole_in(1, 1 << 20))
      .show_default();
  verb.add_option("--seed", o->seed, "Seed of the random orders of the samples")
      .check(seeds())
      .show_default();
  add_json_flag(verb, o->json);
  verb.footer(
      R"(lane: the rows of a global batch that come from one partition.
away: share of the samples used in a lane other than their partition's, an upper bound of what
travels if machines hold partitions; expected: the fraction times 1 - 1/partitions.
moved: distance of a sample from its place in the epoch before, as a share of an epoch; at best 1/3.
meetings: how often two samples that share a lane of a batch do so again an epoch later.
classes: entropy of the classes in a lane of a batch.
Both are multiples of the value for a global shuffle.)");
  return {verb, [o, fraction](Session& session) { bench_shuffle(*o, fraction.given(), session); }};
}

SubVerb add_bench_alltoall(Verb bench) {
  auto o = std::make_shared<ExchangeRequest>();
  const Verb verb = bench.add_verb(
      "alltoall",
      "The exchange of data between ranks, compared with what one rank alone can send to the next, "
      "and with MPI's own exchange; under mpirun");
  verb.add_option("-b,--bytes", o->bytes, "Bytes that each rank sends, to all others together")
      .in_bytes()
      .check(whole_in(4, std::int64_t{1} << 30))
      .show_default();
  verb.add_option("--segment", o->segment_bytes, "Largest message, in bytes")
      .in_bytes()
      .check(whole_in(4, std::int64_t{1} << 30))
      .show_default();
  verb.add_option("--gradients", o->gradient_bytes,
                  "Also measure all-reduces of this many bytes, alone and during exchanges")
      .in_bytes()
      .check(whole_in(0, std::int64_t{1} << 32))
      .show_default();
  verb.add_option("-n,--rounds", o->rounds, kByTurns).check(whole_in(1, kMostCount)).show_default();
  add_json_flag(verb, o->json);
  return {verb, [o](Session& session) { bench_alltoall(*o, session); },
          /*uses_ranks=*/true};
}

SubVerb add_bench_allreduce(Verb bench) {
  auto o = std::make_shared<AllReduceRequest>();
  const Verb verb = bench.add_verb(
      "allreduce",
      "The all-reduce of gradients by each schedule, compared with MPI_Allreduce and the network's "
      "limit, in the columns of nccl-tests; under mpirun");
  const auto size = [&](const std::string& flag, std::uint64_t& value, const std::string& what) {
    verb.add_option(flag, value, what)
        .in_bytes()
        .check(whole_in(4, std::int64_t{1} << 32))
        .show_default();
  };
  size("-b,--min-bytes", o->sizes.least_bytes, "The smallest buffer");
  size("-e,--max-bytes", o->sizes.most_bytes, "The largest buffer");
  const Flag factor =
      verb.add_option("-f,--factor", o->sizes.factor, "Factor from one size to the next")
          .check(whole_in(2, 1024))
          .show_default();
  verb.add_option("-i,--step-bytes", o->sizes.step_bytes,
                  "Bytes added from one size to the next, instead of a factor")
      .in_bytes()
      .check(whole_in(4, std::int64_t{1} << 32))
      .excludes(factor);
  verb.add_option("-n,--rounds", o->rounds.measured, kByTurns)
      .check(whole_in(1, kMostCount))
      .show_default();
  verb.add_option("-w,--warmup-rounds", o->rounds.warmup, "Warm-up runs of each kind, not counted")
      .check(whole_in(0, kMostCount))
      .show_default();
  verb.add_option(
          "-d,--type", o->types,
          "Element types: f32, f64, i32, i64, or bf16 and f16, which are summed in f32 and have "
          "no row for MPI_Allreduce")
      .delimiter(',')
      .show_default();
  verb.add_option(
          "--schedule", o->schedules,
          "Schedules as for winnow train --schedule, or auto: the one predicted to be fastest; "
          "default: all of them")
      .delimiter(',');
  verb.add_option("--colors", o->grain.colors,
                  "Trees of the schedules multicolor and hierarchical; auto chooses its own")
      .check(whole_in(1, 64))
      .show_default();
  verb.add_option("--segment", o->grain.segment_elements,
                  "Largest number of elements in a message; auto chooses its own")
      .check(whole_in(1, kMostBatch))
      .show_default();
  verb.add_flag(
      "--bf16-gradients", o->bf16,
      "Send bf16 instead of f32, as winnow train --bf16-gradients; MPI_Allreduce still sends f32");
  verb.add_flag("--comm-checksum", o->checksums,
                "Send a checksum with each message, as winnow train --comm-checksum; MPI_Allreduce "
                "sends none");
  verb.add_option("--write", o->to.network,
                  "Also write the measured network to a file, for winnow plan --network FILE");
  verb.add_flag("--json", o->to.json, "Print one JSON object on stdout");
  return {verb, [o](Session& session) { bench_allreduce(*o, session); },
          /*uses_ranks=*/true};
}

}  // namespace

Command add_bench(Verb program) {
  const Verb verb =
      program.add_verb("bench", "Benchmarks: compare winnow's speed with what is attainable");
  verb.footer(
      R"(Kinds of runs alternate, so that other load on the machine slows all of them equally.

Examples:
  winnow bench decode photos.tar                     # images/s, and pixels/s
  winnow bench ingest photos.tar --out /dev/shm      # without the disk
  winnow bench ingest photos/ --store raw --json
  winnow bench hash --hash phash,dhash,pdq
  winnow bench loader cache --augment cifar --batch-size 128 --threads 2
  winnow bench shuffle cache --batch-size 1024 --partitions 16
  winnow bench search --count 10000000 --bits 64 --radius 8
  mpirun -np 4 winnow bench alltoall -b 64M --gradients 16M
  mpirun -np 4 winnow bench allreduce -b 1M -e 64M    # every schedule and MPI_Allreduce)");
  return command_of(verb, {add_bench_decode(verb), add_bench_ingest(verb), add_bench_hash(verb),
                           add_bench_search(verb), add_bench_loader(verb), add_bench_shuffle(verb),
                           add_bench_alltoall(verb), add_bench_allreduce(verb)});
}

}  // namespace winnow::tools

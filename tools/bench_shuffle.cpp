#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "common/error.h"
#include "pipeline/load/dataset.h"
#include "pipeline/load/shuffle_quality.h"
#include "pipeline/store/cache.h"
#include "tools/bench_rows.h"
#include "tools/benches.h"
#include "tools/flags/flags.h"
#include "tools/numbers.h"
#include "tools/shuffle_flags.h"

namespace winnow::tools {
namespace {

struct BenchShuffleOptions {
  std::filesystem::path cache;
  std::string selection;
  pipeline::ShuffleOptions shuffle;
  std::uint64_t batch = 128;
  std::uint64_t seed = 1;
  bool json = false;
};

std::string text_cell(const std::optional<double>& value) {
  return value ? fmt::format("{:12.3f}", *value) : fmt::format("{:>12}", "-");
}

void bench_shuffle(const BenchShuffleOptions& o, bool one_fraction, const Session& session) {
  const auto cache = pipeline::Cache::open(o.cache);
  const auto samples = pipeline::select_samples(cache, Split::kTrain, o.selection);
  const auto labels = pipeline::read_place_labels(cache, samples);
  const double global_away = 1 - 1 / static_cast<double>(o.shuffle.partitions);
  std::vector<double> fractions{0, 0.05, 0.1, 0.25, 0.5, 1};
  if (one_fraction) fractions = {o.shuffle.fraction};
  std::vector<Row> rows;
  say(session,
      fmt::format("{} samples, {} partitions, batches of {}; of a global shuffle 1 - 1/{} "
                  "are used outside their lane, and meetings and classes are 1",
                  grouped(samples.size()), o.shuffle.partitions, o.batch, o.shuffle.partitions));
  say(session, fmt::format("{:>8}{:>12}{:>12}{:>12}{:>12}{:>12}", "fraction", "away", "expected",
                           "moved", "meetings", "classes"));
  for (const double fraction : fractions) {
    check(session.stop);
    const pipeline::PartialShuffle shuffle(samples, {fraction, o.shuffle.partitions, o.batch},
                                           o.seed);
    const pipeline::ShuffleQuality quality = pipeline::measure_shuffle(shuffle, labels);
    say(session, fmt::format("{:8g}{}{}{}{}{}", fraction, text_cell(quality.away),
                             text_cell(fraction * global_away), text_cell(quality.displacement),
                             text_cell(quality.meetings), text_cell(quality.class_entropy)));
    const std::string name = fmt::format("shuffle of {:g}, ", fraction);
    rows.push_back({name + "used outside their lane", quality.away, global_away, "share"});
    rows.push_back({name + "moved", quality.displacement, 1.0 / 3, "share"});
    if (quality.meetings) rows.push_back({name + "meetings", *quality.meetings, 1, "ratio"});
    if (quality.class_entropy) {
      rows.push_back({name + "class entropy", *quality.class_entropy, 1, "ratio"});
    }
  }
  if (o.json) print_json(rows);
}

}  // namespace

SubVerb add_bench_shuffle(Verb bench) {
  auto o = std::make_shared<BenchShuffleOptions>();
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

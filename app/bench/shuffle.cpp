#include "app/bench/shuffle.h"

#include <fmt/core.h>

#include <optional>
#include <vector>

#include "app/bench/rows.h"
#include "app/words.h"
#include "pipeline/load/dataset.h"
#include "pipeline/load/shuffle_quality.h"

namespace winnow::app {
namespace {

std::string text_cell(const std::optional<double>& value) {
  return value ? fmt::format("{:12.3f}", *value) : fmt::format("{:>12}", "-");
}

}  // namespace

void bench_shuffle(const ShuffleBenchRequest& o, bool one_fraction, const Session& session) {
  const auto cache = pipeline::Cache::open(o.cache);
  const auto samples = pipeline::select_samples(cache, Split::kTrain, o.selection);
  const auto labels = pipeline::read_place_labels(cache, samples);
  const double global_away = 1 - 1 / static_cast<double>(o.shuffle.partitions);
  std::vector<double> fractions{0, 0.05, 0.1, 0.25, 0.5, 1};
  if (one_fraction) fractions = {o.shuffle.fraction};
  std::vector<BenchRow> rows;
  say(session,
      fmt::format("{} samples, {} partitions, batches of {}; for a global shuffle, away is 1 - "
                  "1/{}, and meetings and classes are 1",
                  grouped(samples.size()), o.shuffle.partitions, o.batch, o.shuffle.partitions));
  say(session, fmt::format("{:>8}{:>12}{:>12}{:>12}{:>12}{:>12}", "fraction", "away", "expected",
                           "moved", "meetings", "classes"));
  for (const double fraction : fractions) {
    end_if_stopped(session.stop);
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
  if (o.json) print_rows(session, rows);
}

}  // namespace winnow::app

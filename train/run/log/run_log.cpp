#include "train/run/log/run_log.h"

#include <array>
#include <chrono>

#include "common/bytes.h"
#include "common/checksum.h"
#include "common/comm/agreement.h"

namespace winnow::train {

void RunLog::open(const Place& place, std::int64_t first_step, bool evaluates_again) {
  place_ = place;
  on_root(comm_, [&] {
    // Failing to write ranks.json does not end a run; its time shows that it is outdated.
    ranks_.emplace(place.ranks, [](const std::exception&) {});
    lines_.emplace(place.metrics, first_step > 0 ? first_step : -1, evaluates_again);
    if (place.events.empty()) return;
    events_.emplace(place.events, read_metrics(place.metrics), lines_->wall_before());
  });
}

void RunLog::write(std::int64_t step, const std::map<std::string, double>& values,
                   const std::map<std::string, std::string>& texts) {
  on_root(comm_, [&] { write_line(step, values, texts); });
}

void RunLog::write_interval(std::int64_t step, std::map<std::string, double> values,
                            const RankTable& ranks) {
  on_root(comm_, [&] {
    std::map<std::string, std::string> texts;
    values["memory.peak"] = ranks.figures[0].memory;
    enter(summarise_ranks(ranks.figures), ranks.hosts, values, texts);
    write_line(step, values, texts, &ranks);
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    ranks_->put([ranks, run = place_.run_id, step, time = now.count()] {
      return ranks_json(ranks, run, step, time);
    });
  });
}

void RunLog::write_line(std::int64_t step, const std::map<std::string, double>& values,
                        std::map<std::string, std::string> texts, const RankTable* ranks) {
  texts["run"] = place_.run_id;
  const MetricsRow row{.step = step,
                       .epoch = batches_.epoch_at(step),
                       .wall = lines_->wall_before() + throughput_.seconds(),
                       .values = values};
  lines_->write(row, texts);
  if (events_) events_->write(row);
  if (place_.sink) place_.sink({.run = place_.run_id, .row = row, .ranks = ranks});
}

void RunLog::write_shuffle(const pipeline::ShuffleQuality& quality) {
  std::map<std::string, double> row{{"shuffle.away", quality.away},
                                    {"shuffle.displacement", quality.displacement}};
  if (quality.meetings) row["shuffle.meetings"] = *quality.meetings;
  if (quality.class_entropy) row["shuffle.class_entropy"] = *quality.class_entropy;
  write_line(0, row);
}

void RunLog::write_digest(std::int64_t step, std::uint64_t digest) {
  std::array<std::uint64_t, 1> sum{digest};
  comm_.all_reduce(sum);
  write(step, {}, {{"data.digest", to_hex(sum[0])}});
}

void RunLog::sync() {
  lines_->sync();
  if (events_) events_->sync();
}

}  // namespace winnow::train

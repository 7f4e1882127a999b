#include "train/run/run_log.h"

#include <array>

#include "common/bytes.h"
#include "common/checksum.h"
#include "common/comm/agreement.h"

namespace winnow::train {

void RunLog::open(const Place& place, std::int64_t first_step, bool evaluates_again) {
  run_id_ = place.run_id;
  on_root(comm_, [&] {
    lines_.emplace(place.metrics, first_step > 0 ? first_step : -1, evaluates_again);
    if (place.events.empty()) return;
    events_.emplace(place.events, read_metrics(place.metrics), lines_->wall_before());
  });
}

void RunLog::write(std::int64_t step, const std::map<std::string, double>& values,
                   const std::map<std::string, std::string>& texts) {
  on_root(comm_, [&] { write_line(step, values, texts); });
}

void RunLog::write_line(std::int64_t step, const std::map<std::string, double>& values,
                        std::map<std::string, std::string> texts) {
  texts["run"] = run_id_;
  const MetricsRow row{.step = step,
                       .epoch = batches_.epoch_at(step),
                       .wall = lines_->wall_before() + throughput_.seconds(),
                       .values = values};
  lines_->write(row, texts);
  if (events_) events_->write(row);
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

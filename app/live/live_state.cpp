#include "app/live/live_state.h"

#include <algorithm>

namespace winnow::app {
namespace {

using train::MetricsRow;

std::optional<double> find(const MetricsRow& row, const std::string& name) {
  const auto value = row.values.find(name);
  return value == row.values.end() ? std::nullopt : std::optional(value->second);
}

void add_point(std::vector<LivePoint>& to, const MetricsRow& row, const std::string& name) {
  if (const auto value = find(row, name)) to.push_back({row.epoch, *value});
}

void add_points(LiveCurves& curves, const MetricsRow& row, const std::string& figure) {
  add_point(curves.train, row, "train." + figure);
  add_point(curves.val, row, "val." + figure);
  add_point(curves.test, row, "test." + figure);
}

// Growth of a counter of seconds.
double grown(const MetricsRow& row, const MetricsRow& before, const std::string& name) {
  const double now = find(row, name).value_or(0);
  const double then = find(before, name).value_or(0);
  return std::max(0.0, now >= then ? now - then : now);
}

// Time stages between two training rows. Images per second count steps alone, so steps can be told
// from the time between them.
LiveStages stages_of(const MetricsRow& row, const MetricsRow& before, std::int64_t batch) {
  const double all = std::max(0.0, row.wall - before.wall);
  const double images = (static_cast<double>(row.step) - static_cast<double>(before.step)) *
                        static_cast<double>(batch);
  const double rate = find(row, "train.total_ips").value_or(0);
  const double steps = rate > 0 && images > 0 ? std::min(all, images / rate) : all;
  LiveStages stages{.between = all - steps};
  stages.data = std::min(steps, grown(row, before, "data.wait_time"));
  stages.communication = std::min(steps - stages.data, grown(row, before, "comm.exposed_time"));
  stages.computing = steps - stages.data - stages.communication;
  return stages;
}

void add_row(LiveState& state, const MetricsRow& row) {
  add_points(state.loss, row, "loss");
  add_points(state.accuracy, row, "top1");
  if (!find(row, "train.loss")) return;
  state.images_per_second = find(row, "train.total_ips");
  state.lately = stages_of(row, state.last, state.batch);
  state.so_far.computing += state.lately.computing;
  state.so_far.data += state.lately.data;
  state.so_far.communication += state.lately.communication;
  state.so_far.between += state.lately.between;
  state.last = row;
}

}  // namespace

double rate_of(const LivePace& pace) {
  return pace.seconds > 0 && pace.done > pace.first
             ? static_cast<double>(pace.done - pace.first) / pace.seconds
             : 0;
}

std::optional<double> seconds_left(const LivePace& pace) {
  const double rate = rate_of(pace);
  if (rate <= 0 || pace.total <= pace.done) return std::nullopt;
  return static_cast<double>(pace.total - pace.done) / rate;
}

void add(LiveState& state, const std::vector<MetricsRow>& rows) {
  for (const MetricsRow& row : rows) add_row(state, row);
}

void follow(LiveState& state, train::MetricsTail& tail) {
  const train::MetricsTail::News news = tail.read();
  if (news.anew) {
    state = {.name = state.name,
             .batch = state.batch,
             .pace = state.pace,
             .note = state.note,
             .sentences = state.sentences,
             .ranks = state.ranks,
             .waits = state.waits};
  }
  add(state, news.rows);
}

}  // namespace winnow::app

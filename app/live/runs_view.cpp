#include "app/live/runs_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "app/live/canvas.h"
#include "app/live/columns.h"
#include "app/live/rank_rows.h"
#include "app/words.h"

namespace winnow::app {
namespace {

constexpr int kMostRunName = 40;
constexpr int kSlowest = 24;
constexpr int kCurve = 30;
constexpr int kBetween = 2;
constexpr int kMostWrap = 3;  // lines of a run's messages

std::string last_of(const std::vector<LivePoint>& points, bool is_share) {
  if (points.empty()) return "-";
  const double value = points.back().value;
  return is_share ? percent(value) : fmt::format("{:.4f}", std::min(value, 1e9));
}

// The split that is evaluated during training.
const std::vector<LivePoint>& evaluated(const LiveCurves& curves) {
  return curves.val.empty() ? curves.test : curves.val;
}

std::string share_done(const LivePace& pace) {
  if (pace.total == 0) return "-";
  const double share = static_cast<double>(pace.done) / static_cast<double>(pace.total);
  return fmt::format("{:.1f} %", 100 * std::min(1.0, share));
}

std::string images_per_second(const LiveState& run) {
  const double rate = run.images_per_second.value_or(rate_of(run.pace));
  return rate > 0 ? fmt::format("{:.0f}", std::min(rate, 1e12)) : "-";
}

std::string time_left(const LiveState& run) {
  if (run.is_over) return "ended";
  if (run.silent_s > 0) return "silent";
  const auto seconds = seconds_left(run.pace);
  return seconds ? in_seconds(*seconds) : "-";
}

std::string slowest_of(const LiveState& run) {
  const train::RankTable& ranks = run.ranks.table;
  if (ranks.figures.size() > 1) {
    const train::RankSummary summary = train::summarise_ranks(ranks.figures);
    return fmt::format("rank {}, {}", summary.slowest, summary.slowest_in);
  }
  const auto slowest = run.last.values.find("ranks.slowest");
  if (ranks.figures.size() == 1 || slowest == run.last.values.end()) return "-";
  return fmt::format("rank {:.0f}", slowest->second);
}

std::string curve_of(const LiveState& run) {
  Canvas canvas(kCurve, 1);
  LiveCurves training{.train = run.loss.train};
  if (!training.train.empty()) draw(canvas, training, ranges_of(training));
  return canvas.row(0);
}

struct RunColumn {
  std::string_view title;
  int width;
  std::string (*text)(const LiveState& run);
};
constexpr std::array<RunColumn, 6> kRunColumns{
    {{"done", 8, [](const LiveState& run) { return share_done(run.pace); }},
     {"epoch", 7, [](const LiveState& run) { return fmt::format("{:.2f}", run.last.epoch); }},
     {"loss", 9, [](const LiveState& run) { return last_of(run.loss.train, false); }},
     {"accuracy", 10, [](const LiveState& run) { return last_of(evaluated(run.accuracy), true); }},
     {"images/s", 10, &images_per_second},
     {"left", 13, &time_left}}};

}  // namespace

std::vector<std::string> runs_view(const std::vector<LiveState>& runs, int width, int height) {
  int numbers = 0;
  for (const RunColumn& column : kRunColumns) numbers += column.width;
  int name = 12;
  for (const LiveState& run : runs) name = std::max(name, width_of(run.name));
  name = std::clamp(std::min(name, width - numbers), 8, kMostRunName);
  const bool has_slowest = width >= name + numbers + kBetween + kSlowest;
  const bool has_curve = width >= name + numbers + 2 * kBetween + kSlowest + kCurve;
  std::vector<std::string> lines{fmt::format("winnow watch  {} runs", runs.size()), {}};
  std::string head = padded("run", name);
  for (const RunColumn& column : kRunColumns) {
    head += aligned_right(std::string(column.title), column.width);
  }
  if (has_slowest) head += repeated(" ", kBetween) + padded("slowest", kSlowest);
  if (has_curve) head += repeated(" ", kBetween) + "loss";
  lines.push_back(head);
  for (const LiveState& run : runs) {
    std::string row = padded(run.name, name);
    for (const RunColumn& column : kRunColumns)
      row += aligned_right(column.text(run), column.width);
    if (has_slowest) row += repeated(" ", kBetween) + padded(slowest_of(run), kSlowest);
    if (has_curve) row += repeated(" ", kBetween) + curve_of(run);
    lines.push_back(std::move(row));
  }
  for (const LiveState& run : runs) {
    if (run.waits.empty()) continue;
    const auto wrap = wrapped(run.name + ": " + run.waits.back(), std::max(1, width), kMostWrap);
    lines.insert(lines.end(), wrap.begin(), wrap.end());
  }
  if (static_cast<int>(lines.size()) > height) {
    lines.resize(static_cast<std::size_t>(std::max(1, height)));
    if (height > 3) lines.back() = "and more; a higher terminal shows them";
  }
  for (std::string& line : lines) line = cut(std::move(line), width);
  return lines;
}

std::string run_line(const LiveState& run) {
  if (run.last.step == 0) {
    return run.name + (run.is_over ? ": ended; no step is logged" : ": no step is logged yet");
  }
  std::string text = fmt::format("{}: step {}", run.name, run.last.step);
  if (!run.note.empty()) text += ", " + run.note;
  if (run.pace.total > 0) text += ", " + share_done(run.pace);
  if (!run.loss.train.empty()) text += ", loss " + last_of(run.loss.train, false);
  if (!run.accuracy.val.empty()) text += ", val " + last_of(run.accuracy.val, true);
  if (!run.accuracy.test.empty()) text += ", test " + last_of(run.accuracy.test, true);
  if (run.is_over) return text + "; ended";
  if (run.images_per_second) text += ", " + images_per_second(run) + " images/s";
  if (const auto seconds = seconds_left(run.pace)) text += ", " + in_seconds(*seconds) + " left";
  if (const std::string waits = waits_of(run.ranks.table); !waits.empty()) text += "; " + waits;
  return text;
}

}  // namespace winnow::app

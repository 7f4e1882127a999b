#include "app/live/live_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "app/live/canvas.h"
#include "app/live/columns.h"
#include "app/live/rank_rows.h"
#include "app/words.h"

namespace winnow::app {
namespace {

using Lines = std::vector<std::string>;

constexpr int kTwoColumnsFrom = 110;  // minimum width for charts side by side
constexpr int kLeastTwoColumns = 70;  // the same if they do not fit one above the other
constexpr int kLeastChart = 6;        // minimum rows of a chart: title, four of curve, axis
constexpr int kMostChart = 18;
constexpr int kTicks = 9;  // columns left of a curve
constexpr int kMostSentences = 3;

struct Chart {
  std::string name;
  const LiveCurves& curves;
  bool percent = false;
};

std::string figure(const Chart& chart, double value) {
  return chart.percent ? fmt::format("{:.1f} %", 100 * value) : fmt::format("{:.4g}", value);
}

// The legend: what each sign stands for, with the last number. `named`: signs have names, too.
std::string key_of(const Chart& chart, bool named) {
  std::string text = chart.name;
  const auto add = [&](std::string_view sign, std::string_view name,
                       const std::vector<LivePoint>& points) {
    if (points.empty()) return;
    text += fmt::format("  {} {}{}", sign, named ? name : "", figure(chart, points.back().value));
  };
  add("⠒⠒", "training ", chart.curves.train);
  add("o", "val ", chart.curves.val);
  add("x", "test ", chart.curves.test);
  return text;
}

std::string key_of(const Chart& chart, int width) {
  const std::string text = key_of(chart, true);
  return padded(width_of(text) <= width ? text : key_of(chart, false), width);
}

Lines chart_lines(const Chart& chart, int width, int height) {
  Lines lines{key_of(chart, width)};
  const CurveRanges ranges = ranges_of(chart.curves);
  const int rows = height - 2;
  const int columns = width - kTicks - 1;
  const bool is_empty = ranges.values.most < ranges.values.least;
  Canvas canvas(columns, rows);
  if (!is_empty) draw(canvas, chart.curves, ranges);
  for (int row = 0; row < rows; ++row) {
    std::string tick;
    if (!is_empty && row == 0) tick = figure(chart, ranges.values.most);
    if (!is_empty && row == rows - 1) tick = figure(chart, ranges.values.least);
    tick = cut(tick, kTicks - 1);
    lines.push_back(repeated(" ", kTicks - 1 - width_of(tick)) + tick + " │" + canvas.row(row));
  }
  const std::string most =
      is_empty ? "nothing is logged yet" : fmt::format("epoch {:.4g}", ranges.epochs.most);
  lines.push_back(padded(repeated(" ", kTicks) + "└0" +
                             repeated(" ", std::max(1, columns - 1 - width_of(most))) + most,
                         width));
  return lines;
}

// Both charts, one above the other or side by side, in at most `height` lines.
Lines charts_of(const LiveState& state, int width, int height) {
  const Chart loss{"loss", state.loss, false};
  const Chart accuracy{"accuracy", state.accuracy, true};
  const bool is_low = height < 2 * kLeastChart && width >= kLeastTwoColumns;
  if ((width >= kTwoColumnsFrom || is_low) && height >= kLeastChart) {
    const int half = (width - 2) / 2;
    Lines lines = chart_lines(loss, half, std::min(height, kMostChart));
    const Lines right = chart_lines(accuracy, half, std::min(height, kMostChart));
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i] += "  " + right[i];
    return lines;
  }
  if (width < 2 * kTicks || height < kLeastChart) return {};
  if (height < 2 * kLeastChart) return chart_lines(loss, width, height);
  Lines lines = chart_lines(loss, width, std::min(height / 2, kMostChart));
  const Lines below = chart_lines(accuracy, width, std::min(height / 2, kMostChart));
  lines.insert(lines.end(), below.begin(), below.end());
  return lines;
}

struct Stage {
  std::string_view sign;
  std::string_view name;
  double LiveStages::*seconds;
};
constexpr std::array<Stage, 4> kStages{{{"█", "computing", &LiveStages::computing},
                                        {"▓", "waiting for data", &LiveStages::data},
                                        {"▒", "communication", &LiveStages::communication},
                                        {"░", "evaluation, checkpoints", &LiveStages::between}}};

std::string stages_line(std::string_view name, const LiveStages& stages, int width) {
  constexpr int kName = 8;
  constexpr int kNumbers = 4 * 6;
  const double all = stages.all();
  const int room = std::max(0, width - kName - kNumbers);
  std::string bar;
  std::string numbers;
  double sum = 0;
  int drawn = 0;
  for (const Stage& stage : kStages) {
    const double share = all > 0 ? stages.*stage.seconds / all : 0;
    sum += share;
    const int until = static_cast<int>(std::lround(sum * room));
    bar += repeated(stage.sign, until - drawn);
    drawn = until;
    numbers += all > 0 ? fmt::format("{:4.0f} %", 100 * share) : std::string("   - %");
  }
  return cut(padded(std::string(name), kName) + padded(bar, room) + numbers, width);
}

Lines stages_of(const LiveState& state, int width) {
  std::string key;
  for (const Stage& stage : kStages) {
    key += fmt::format("{}{} {}", key.empty() ? "" : "  ", stage.sign, stage.name);
  }
  return {cut(key, width), stages_line("lately", state.lately, width),
          stages_line("so far", state.so_far, width)};
}

Lines head_of(const LiveState& state, int width) {
  const LivePace& pace = state.pace;
  const double rate = rate_of(pace);
  std::string left;
  if (pace.total > 0 && pace.done >= pace.total) {
    left = "all steps are done";
  } else if (const auto seconds = seconds_left(pace)) {
    left = in_seconds(*seconds) + " left";
  }
  std::string facts;
  if (pace.total > 0) {
    const double share =
        std::min(1.0, static_cast<double>(pace.done) / static_cast<double>(pace.total));
    constexpr int kBar = 24;
    const int full = static_cast<int>(share * kBar);
    facts = fmt::format("[{}{}] {:.1f} %", std::string(static_cast<std::size_t>(full), '='),
                        std::string(static_cast<std::size_t>(kBar - full), ' '), 100 * share);
  }
  if (!state.note.empty()) facts += "  " + state.note;
  if (const double now = state.images_per_second.value_or(rate); now > 0) {
    facts += fmt::format("  {:.0f} images/s", now);
  }
  return {ends("winnow train  " + state.name, left, width), cut(facts, width)};
}

// The last few.
std::span<const std::string> newest(const Lines& sentences) {
  return std::span(sentences).last(std::min<std::size_t>(sentences.size(), kMostSentences));
}

}  // namespace

std::vector<std::string> live_view(const LiveState& state, int width, int height) {
  Lines lines = head_of(state, width);
  Lines stages = stages_of(state, width);
  // At most a third of the terminal.
  Lines ranks = rank_rows(state, width, std::max(kLeastRankRows, height / 3));
  Lines said;
  for (const std::string& wait : newest(state.waits)) {
    const Lines wrap = wrapped(wait, width, kMostSentences);
    said.insert(said.end(), wrap.begin(), wrap.end());
  }
  for (const std::string& each : newest(state.sentences)) said.push_back(cut(each, width));
  const auto rest = [&] {
    return height - static_cast<int>(lines.size() + stages.size() + ranks.size() + said.size());
  };
  if (rest() < 0) stages.clear();
  if (rest() < 0) ranks.clear();
  const Lines charts = charts_of(state, width, rest() - 1);
  if (!charts.empty()) lines.emplace_back();
  for (const Lines* part :
       {&charts, &std::as_const(stages), &std::as_const(ranks), &std::as_const(said)}) {
    lines.insert(lines.end(), part->begin(), part->end());
  }
  lines.resize(std::min(lines.size(), static_cast<std::size_t>(height)));
  return lines;
}

}  // namespace winnow::app

#include "tools/live/live_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "tools/report/range.h"
#include "tools/report/words.h"

namespace winnow::tools {
namespace {

using Lines = std::vector<std::string>;

constexpr int kTwoColumnsFrom = 110;  // charts side by side
constexpr int kLeastChart = 6;        // rows of a chart: title, four of curve, axis
constexpr int kMostChart = 18;
constexpr int kTicks = 9;  // columns left of a curve
constexpr int kMostSentences = 3;

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

int width_of(std::string_view text) {
  return static_cast<int>(std::ranges::count_if(text, begins_character));
}

std::string cut(std::string text, int width) {
  int columns = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (begins_character(text[at]) && ++columns > width) text.resize(at);
  }
  return text;
}

std::string padded(std::string text, int width) {
  text = cut(std::move(text), width);
  return text + std::string(static_cast<std::size_t>(width - width_of(text)), ' ');
}

std::string repeated(std::string_view character, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += character;
  return text;
}

// `right` stands at the right edge, where both fit.
std::string ends(const std::string& left, const std::string& right, int width) {
  const int room = width - width_of(left) - width_of(right);
  return room < 2 ? cut(left, width) : left + repeated(" ", room) + right;
}

// A grid of characters, each two dots wide and four high, of braille.
class Canvas {
 public:
  Canvas(int columns, int rows)
      : columns_(columns), cells_(static_cast<std::size_t>(columns) * rows), rows_(rows) {}
  int dots_x() const { return 2 * columns_; }
  int dots_y() const { return 4 * rows_; }

  // Dots of [0, dots_x) and [0, dots_y), from the top left corner.
  void dot(int x, int y) {
    static constexpr std::array<std::array<unsigned char, 2>, 4> kBits{
        {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
    cell(x, y).dots |= kBits[static_cast<std::size_t>(y % 4)][static_cast<std::size_t>(x % 2)];
  }
  void line(int x0, int y0, int x1, int y1) {
    const int length = std::max(std::abs(x1 - x0), std::abs(y1 - y0));
    for (int i = 0; i <= length; ++i) {
      const double share = length == 0 ? 0 : static_cast<double>(i) / length;
      dot(x0 + static_cast<int>(std::lround(share * (x1 - x0))),
          y0 + static_cast<int>(std::lround(share * (y1 - y0))));
    }
  }
  // A letter in place of the dots there.
  void mark(int x, int y, char letter) { cell(x, y).letter = letter; }

  std::string row(int number) const {
    std::string text;
    for (int column = 0; column < columns_; ++column) {
      const Cell& cell = cells_[static_cast<std::size_t>(number * columns_ + column)];
      if (cell.letter != '\0') {
        text += cell.letter;
      } else if (cell.dots == 0) {
        text += ' ';
      } else {  // U+2800 + dots
        text += '\xE2';
        text += static_cast<char>(0xA0 + (cell.dots >> 6));
        text += static_cast<char>(0x80 + (cell.dots & 0x3F));
      }
    }
    return text;
  }

 private:
  struct Cell {
    unsigned dots = 0;
    char letter = '\0';
  };
  Cell& cell(int x, int y) { return cells_[static_cast<std::size_t>(y / 4 * columns_ + x / 2)]; }

  int columns_;
  std::vector<Cell> cells_;
  int rows_;
};

// Of [0, places).
int place_of(double value, const Range& range, int places) {
  const double place = range.share(value) * (places - 1);
  return std::clamp(static_cast<int>(std::lround(place)), 0, places - 1);
}

struct Chart {
  std::string name;
  const LiveCurves& curves;
  bool percent = false;
};

std::string figure(const Chart& chart, double value) {
  return chart.percent ? fmt::format("{:.1f} %", 100 * value) : fmt::format("{:.4g}", value);
}

// What stands for what, with the last number of each.
std::string key_of(const Chart& chart) {
  std::string text = chart.name;
  const auto add = [&](std::string_view sign, const std::vector<LivePoint>& points) {
    if (points.empty()) return;
    text += fmt::format("  {} {}", sign, figure(chart, points.back().value));
  };
  add("⠒⠒ training", chart.curves.train);
  add("o val", chart.curves.val);
  add("x test", chart.curves.test);
  return text;
}

struct Ranges {
  Range epochs;
  Range values;
};

Ranges ranges_of(const LiveCurves& curves) {
  Ranges ranges;
  ranges.epochs.add(0);
  for (const auto* points : {&curves.train, &curves.val, &curves.test}) {
    for (const LivePoint& point : *points) {
      ranges.epochs.add(point.epoch);
      ranges.values.add(point.value);
    }
  }
  return ranges;
}

void draw(Canvas& canvas, const LiveCurves& curves, const Ranges& ranges) {
  const auto x = [&](const LivePoint& p) {
    return place_of(p.epoch, ranges.epochs, canvas.dots_x());
  };
  const auto y = [&](const LivePoint& p) {
    return canvas.dots_y() - 1 - place_of(p.value, ranges.values, canvas.dots_y());
  };
  for (std::size_t i = 0; i < curves.train.size(); ++i) {
    const LivePoint& from = curves.train[i == 0 ? 0 : i - 1];
    const LivePoint& to = curves.train[i];
    canvas.line(x(from), y(from), x(to), y(to));
  }
  for (const LivePoint& point : curves.val) canvas.mark(x(point), y(point), 'o');
  for (const LivePoint& point : curves.test) canvas.mark(x(point), y(point), 'x');
}

Lines chart_lines(const Chart& chart, int width, int height) {
  Lines lines{padded(key_of(chart), width)};
  const Ranges ranges = ranges_of(chart.curves);
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

// Both charts, one above the other or side by side, in at most so many lines.
Lines charts_of(const LiveState& state, int width, int height) {
  const Chart loss{"loss", state.loss, false};
  const Chart accuracy{"accuracy", state.accuracy, true};
  if (width >= kTwoColumnsFrom && height >= kLeastChart) {
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

double rate_of(const LivePace& pace) {
  return pace.seconds > 0 && pace.done > pace.first
             ? static_cast<double>(pace.done - pace.first) / pace.seconds
             : 0;
}

Lines head_of(const LiveState& state, int width) {
  const LivePace& pace = state.pace;
  const double rate = rate_of(pace);
  std::string left;
  if (pace.total > 0 && pace.done >= pace.total) {
    left = "all steps are done";
  } else if (rate > 0 && pace.total > pace.done) {
    left = in_seconds(static_cast<double>(pace.total - pace.done) / rate) + " left";
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

}  // namespace

std::vector<std::string> live_view(const LiveState& state, int width, int height) {
  Lines lines = head_of(state, width);
  const Lines stages = stages_of(state, width);
  Lines said;
  const auto count = std::min<std::size_t>(state.sentences.size(), kMostSentences);
  for (std::size_t i = state.sentences.size() - count; i < state.sentences.size(); ++i) {
    said.push_back(cut(state.sentences[i], width));
  }
  const int rest = height - static_cast<int>(lines.size() + stages.size() + said.size());
  const Lines charts = charts_of(state, width, rest - 1);
  if (!charts.empty()) lines.emplace_back();
  lines.insert(lines.end(), charts.begin(), charts.end());
  if (rest >= 0) lines.insert(lines.end(), stages.begin(), stages.end());
  lines.insert(lines.end(), said.begin(), said.end());
  lines.resize(std::min(lines.size(), static_cast<std::size_t>(height)));
  return lines;
}

}  // namespace winnow::tools

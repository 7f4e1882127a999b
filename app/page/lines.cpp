#include "app/page/lines.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "app/page/html.h"
#include "app/words.h"

namespace winnow::app {
namespace {

constexpr double kLinesLeft = 56;
constexpr double kLinesTop = 48;
constexpr double kLinesWidth = 560;
constexpr double kLinesHeight = 300;
constexpr double kLinesBelow = 48;  // room for ticks and the name of the axis
constexpr double kLegendRow = 22;   // room on the right
constexpr double kCharacter = 7.5;  // maximum width of a character in a legend
constexpr std::size_t kLinesColours = 9;

constexpr const char* kLinesStyle = R"(<style>
svg { --ink: #1b2330; --soft: #667085; --line: #e1e5ea; --c0: #2f6feb; --c1: #d9822b; --c2: #2a9d6f;
  --c3: #b5476d; --c4: #6f5bd0; --c5: #8a94a6; --c6: #a38300; --c7: #1594a8; --c8: #8b5e3c;
  background: #ffffff;
  font: 13px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
@media (prefers-color-scheme: dark) {
  svg { --ink: #e4e8ee; --soft: #98a2b3; --line: #2c343f; --c0: #5b93ff; --c1: #e5a15a;
    --c2: #4dbf92; --c3: #e07fa2; --c4: #a394f5; --c5: #7d889b; --c6: #d1b13a;
    --c7: #45c3d6; --c8: #bb8a63; background: #14181f; } }
text { fill: var(--soft); } .title { fill: var(--ink); font-size: 15px; font-weight: 600; }
.grid { stroke: var(--line); } path { fill: none; stroke-width: 2; stroke-linejoin: round; }
.middle { text-anchor: middle; } .end { text-anchor: end; }
</style>
)";

double y_of(double share) { return kLinesTop + kLinesHeight * (1 - std::clamp(share, 0.0, 1.0)); }

std::string text_at(double x, double y, const char* kind, const std::string& text) {
  return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kind, x, y,
                     escaped(text));
}

// `px`: width of a step of 1.
std::string path_of(const LineChart::Line& line, double px) {
  std::string path;
  bool pen_down = false;
  for (std::size_t i = 0; i < line.shares.size(); ++i) {
    const std::optional<double>& share = line.shares[i];
    if (share) {
      path += fmt::format("{}{:.1f},{:.1f}", pen_down ? 'L' : 'M',
                          kLinesLeft + px * line.step * static_cast<double>(i), y_of(*share));
    }
    pen_down = share.has_value();
  }
  return path;
}

double furthest_x(const LineChart& chart) {
  double x = 0;
  for (const LineChart::Line& line : chart.lines) {
    x = std::max(x, line.step * (static_cast<double>(line.shares.size()) - 1));
  }
  return x > 0 ? x : 1;
}

// Distance between ticks of the axis, at most 16 of them.
double tick_of(double furthest, bool percent) {
  const double least = percent ? 0.01 : 1.0;
  double tick = least;
  for (const double factor : {2.0, 5.0, 10.0, 20.0, 50.0}) {
    if (furthest / tick > 16) tick = least * factor;
  }
  return tick;
}

std::string axes_of(const LineChart& chart, double px) {
  std::string out;
  for (int percent = 0; percent <= 100; percent += 20) {
    const double y = y_of(percent / 100.0);
    out += fmt::format(
        "<line class=\"grid\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
        kLinesLeft, kLinesLeft + kLinesWidth, y, y);
    out += text_at(kLinesLeft - 8, y + 4, "end", fmt::format("{} %", percent));
  }
  const double furthest = furthest_x(chart);
  const double tick = tick_of(furthest, chart.x_percent);
  for (int i = 0; i * tick <= furthest * (1 + 1e-9); ++i) {
    const double x = i * tick;
    out += text_at(kLinesLeft + px * x, kLinesTop + kLinesHeight + 18, "middle",
                   chart.x_percent ? fmt::format("{:.0f} %", 100 * x) : fmt::format("{:.0f}", x));
  }
  return out + text_at(kLinesLeft + kLinesWidth / 2, kLinesTop + kLinesHeight + 40, "middle",
                       chart.x_name);
}

// Names of marks stand at their feet, on the side with room.
std::string marks_of(const LineChart& chart, double px) {
  std::string out;
  for (std::size_t i = 0; i < chart.marks.size(); ++i) {
    const LineChart::Mark& mark = chart.marks[i];
    const double x = kLinesLeft + px * mark.x;
    const bool is_left = mark.x * px < kLinesWidth / 2;
    out += fmt::format(
        "<path style=\"stroke: var(--c{})\" stroke-dasharray=\"2 3\" "
        "d=\"M{:.1f},{:.1f}v{:.1f}\"/>\n",
        static_cast<std::size_t>(mark.colour) % kLinesColours, x, kLinesTop, kLinesHeight);
    out +=
        text_at(x + (is_left ? 6 : -6), kLinesTop + kLinesHeight - 8 - 18 * static_cast<double>(i),
                is_left ? "mark" : "mark end", mark.name);
  }
  return out;
}

}  // namespace

std::string svg_of(const LineChart& chart) {
  const double px = kLinesWidth / furthest_x(chart);
  std::size_t longest = 0;
  for (const LineChart::Line& line : chart.lines) longest = std::max(longest, line.name.size());
  const double legend = 20 + 32 + kCharacter * static_cast<double>(longest) + 8;
  const double height = std::max(kLinesHeight + kLinesBelow,
                                 kLegendRow * static_cast<double>(chart.lines.size()) + 8);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\" aria-label=\"{2}\">\n{3}",
      kLinesLeft + kLinesWidth + legend, kLinesTop + height, escaped(chart.title), kLinesStyle);
  out += text_at(kLinesLeft, 24, "title", chart.title);
  out += axes_of(chart, px);
  out += marks_of(chart, px);
  double legend_y = kLinesTop + 8;
  for (const LineChart::Line& line : chart.lines) {
    const auto style = fmt::format("style=\"stroke: var(--c{})\"{}",
                                   static_cast<std::size_t>(line.colour) % kLinesColours,
                                   line.dashed ? " stroke-dasharray=\"5 4\"" : "");
    out += fmt::format("<path {} d=\"{}\"><title>{}</title></path>\n", style, path_of(line, px),
                       escaped(line.name));
    const double x = kLinesLeft + kLinesWidth + 20;
    out += fmt::format("<path {} d=\"M{:.1f},{:.1f}h24\"/>\n", style, x, legend_y - 4);
    out += text_at(x + 32, legend_y, "legend", line.name);
    legend_y += kLegendRow;
  }
  return out + "</svg>\n";
}

}  // namespace winnow::app

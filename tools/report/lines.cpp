#include "tools/report/lines.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "tools/report/html.h"

namespace winnow::tools {
namespace {

constexpr double kLeft = 56;
constexpr double kTop = 48;
constexpr double kWidth = 560;
constexpr double kHeight = 300;
constexpr double kBelow = 48;    // for ticks and the name of the axis
constexpr double kLegend = 250;  // to the right
constexpr std::size_t kColours = 6;

constexpr const char* kStyle = R"(<style>
svg { --ink: #1b2330; --soft: #667085; --line: #e1e5ea; --c0: #2f6feb; --c1: #d9822b; --c2: #2a9d6f;
  --c3: #b5476d; --c4: #6f5bd0; --c5: #8a94a6; background: #ffffff;
  font: 13px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
@media (prefers-color-scheme: dark) {
  svg { --ink: #e4e8ee; --soft: #98a2b3; --line: #2c343f; --c0: #5b93ff; --c1: #e5a15a;
    --c2: #4dbf92; --c3: #e07fa2; --c4: #a394f5; --c5: #7d889b; background: #14181f; } }
text { fill: var(--soft); } .title { fill: var(--ink); font-size: 15px; font-weight: 600; }
.grid { stroke: var(--line); } path { fill: none; stroke-width: 2; stroke-linejoin: round; }
.middle { text-anchor: middle; } .end { text-anchor: end; }
</style>
)";

double y_of(double share) { return kTop + kHeight * (1 - std::clamp(share, 0.0, 1.0)); }

std::string text_at(double x, double y, const char* kind, const std::string& text) {
  return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kind, x, y,
                     escaped(text));
}

std::string path_of(const LineChart::Line& line, double step) {
  std::string path;
  bool pen_down = false;
  for (std::size_t i = 0; i < line.shares.size(); ++i) {
    const std::optional<double>& share = line.shares[i];
    if (share) {
      path += fmt::format("{}{:.1f},{:.1f}", pen_down ? 'L' : 'M',
                          kLeft + step * static_cast<double>(i), y_of(*share));
    }
    pen_down = share.has_value();
  }
  return path;
}

}  // namespace

std::string svg_of(const LineChart& chart) {
  std::size_t points = 2;
  for (const LineChart::Line& line : chart.lines) points = std::max(points, line.shares.size());
  const double step = kWidth / static_cast<double>(points - 1);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\" aria-label=\"{2}\">\n{3}",
      kLeft + kWidth + kLegend, kTop + kHeight + kBelow, escaped(chart.title), kStyle);
  out += text_at(kLeft, 24, "title", chart.title);
  for (int percent = 0; percent <= 100; percent += 20) {
    const double y = y_of(percent / 100.0);
    out += fmt::format(
        "<line class=\"grid\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n", kLeft,
        kLeft + kWidth, y, y);
    out += text_at(kLeft - 8, y + 4, "end", fmt::format("{} %", percent));
  }
  const std::size_t every = std::max<std::size_t>(1, (points + 15) / 16);
  for (std::size_t i = 0; i < points; i += every) {
    out += text_at(kLeft + step * static_cast<double>(i), kTop + kHeight + 18, "middle",
                   std::to_string(i));
  }
  out += text_at(kLeft + kWidth / 2, kTop + kHeight + 40, "middle", chart.x_name);
  double legend_y = kTop + 8;
  for (const LineChart::Line& line : chart.lines) {
    const auto style = fmt::format("style=\"stroke: var(--c{})\"{}",
                                   static_cast<std::size_t>(line.colour) % kColours,
                                   line.dashed ? " stroke-dasharray=\"5 4\"" : "");
    out += fmt::format("<path {} d=\"{}\"><title>{}</title></path>\n", style, path_of(line, step),
                       escaped(line.name));
    const double x = kLeft + kWidth + 20;
    out += fmt::format("<path {} d=\"M{:.1f},{:.1f}h24\"/>\n", style, x, legend_y - 4);
    out += text_at(x + 32, legend_y, "legend", line.name);
    legend_y += 22;
  }
  return out + "</svg>\n";
}

}  // namespace winnow::tools

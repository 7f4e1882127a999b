#include "app/page/curves.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "app/page/html.h"
#include "app/page/range.h"

namespace winnow::app {
namespace {

constexpr double kWidth = 440;
constexpr double kHeight = 190;
constexpr double kLeft = 46;  // room for ticks
constexpr double kRight = 10;
constexpr double kTop = 10;
constexpr double kBottom = 34;  // room for ticks and the name of the axis
constexpr double kLogFrom = 50;
constexpr std::size_t kMostPoints = 300;
constexpr int kColours = 8;

// 1, 2 or 5 times a power of ten, such that about `count` of them make `length`.
double nice_step(double length, int count) {
  const double rough = std::max(length, 1e-300) / count;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

// Range and ticks of an axis: the numbers themselves or, on a logarithmic axis, their base-10
// logarithms.
struct Axis {
  Range range;
  std::vector<double> ticks;
  bool logarithmic = false;

  double place(double value) const { return range.share(logarithmic ? std::log10(value) : value); }
};

Axis linear_axis(Range range, int count) {
  if (range.most <= range.least) {
    const double room = range.most == 0 ? 1 : std::abs(range.most) / 2;
    range = {range.least - room, range.most + room};
  }
  Axis axis;
  const double step = nice_step(range.most - range.least, count);
  axis.range = {std::floor(range.least / step + 1e-9) * step,
                std::ceil(range.most / step - 1e-9) * step};
  const auto ticks = static_cast<int>(std::lround((axis.range.most - axis.range.least) / step));
  for (int i = 0; i <= ticks; ++i) axis.ticks.push_back(axis.range.least + i * step);
  return axis;
}

Axis log_axis(const Range& range) {
  Axis axis{.range = {std::floor(std::log10(range.least)), std::ceil(std::log10(range.most))},
            .ticks = {},
            .logarithmic = true};
  const double step = std::max(1.0, std::ceil((axis.range.most - axis.range.least) / 6));
  for (double tick = axis.range.least; tick <= axis.range.most; tick += step) {
    axis.ticks.push_back(std::pow(10.0, tick));
  }
  return axis;
}

// Ticks at 1, 2 and 5 times powers of ten, or at powers alone if these would be too many.
Axis log_x_axis(const Range& range) {
  Axis axis{
      .range = {std::log10(range.least), std::log10(range.most)}, .ticks = {}, .logarithmic = true};
  const double room = std::max(0.02, 0.03 * (axis.range.most - axis.range.least));
  axis.range = {axis.range.least - room, axis.range.most + room};
  const bool many = axis.range.most - axis.range.least > 2.5;
  const double step = std::max(1.0, std::ceil((axis.range.most - axis.range.least) / 8));
  for (double power = std::floor(axis.range.least); power <= axis.range.most; power += step) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * std::pow(10.0, power);
      const double at = std::log10(tick);
      if (at < axis.range.least || at > axis.range.most || (many && factor > 1)) continue;
      axis.ticks.push_back(tick);
    }
  }
  if (axis.ticks.empty()) axis.ticks.push_back(range.least);
  return axis;
}

Axis x_axis_of(const CurveChart& chart, Range xs) {
  if (chart.log_x) return log_x_axis(xs);
  xs.add(0);
  Axis x = linear_axis(xs, 6);
  if (xs.most > 0) {  // the axis ends where the run does
    x.range = xs;
    std::erase_if(x.ticks, [&](double tick) { return tick > xs.most * (1 + 1e-9); });
  }
  return x;
}

Axis y_axis_of(const CurveChart& chart) {
  Range range;
  for (const Curve& curve : chart.curves) {
    for (const Curve::Point& point : curve.points) {
      range.add(point.y - point.spread);
      range.add(point.y + point.spread);
    }
  }
  if (chart.percent) return linear_axis({std::max(0.0, range.least), std::min(1.0, range.most)}, 5);
  constexpr double kLeastLog = 1e-100;
  const bool wide = range.least > kLeastLog && range.most > kLogFrom * range.least;
  if (chart.log_if_wide && wide) return log_axis(range);
  return linear_axis(range, 5);
}

std::vector<Curve::Point> thinned(const std::vector<Curve::Point>& points) {
  if (points.size() <= kMostPoints) return points;
  std::vector<Curve::Point> out;
  for (std::size_t i = 0; i < kMostPoints; ++i) {
    const std::size_t begin = i * points.size() / kMostPoints;
    const std::size_t end = (i + 1) * points.size() / kMostPoints;
    Curve::Point mean;
    for (std::size_t k = begin; k < end; ++k) {
      mean.x += points[k].x;
      mean.y += points[k].y;
    }
    const auto count = static_cast<double>(end - begin);
    out.push_back({mean.x / count, mean.y / count});
  }
  return out;
}

double x_px(const Axis& axis, double x) {
  return kLeft + (kWidth - kLeft - kRight) * axis.place(x);
}
double y_px(const Axis& axis, double y) { return kTop + kHeight * (1 - axis.place(y)); }

// Bars of several curves stand next to each other.
std::string bars_of(const Curve& curve, const Axis& x, const Axis& y) {
  const auto aside = static_cast<double>(curve.colour % kColours) * 2 + (curve.dashed ? 1 : 0);
  std::string bars;
  for (const Curve::Point& point : curve.points) {
    if (!(point.spread > 0)) continue;
    const auto end = [&](double value) { return std::clamp(y_px(y, value), kTop, kTop + kHeight); };
    bars += fmt::format(
        "<line class=\"curve run{}{}\" stroke-opacity=\"0.45\" x1=\"{:.1f}\" y1=\"{:.1f}\" "
        "x2=\"{:.1f}\" y2=\"{:.1f}\"><title>{}: {:.4g} to {:.4g} at {:.4g}</title></line>\n",
        curve.colour % kColours, curve.dashed ? " dashed" : "", x_px(x, point.x) - aside,
        end(point.y - point.spread), x_px(x, point.x) - aside, end(point.y + point.spread),
        escaped(curve.name), point.y - point.spread, point.y + point.spread, point.x);
  }
  return bars;
}

std::string line_of(const Curve& curve, const Axis& x, const Axis& y) {
  const std::string look = fmt::format("class=\"curve run{}{}\"", curve.colour % kColours,
                                       curve.dashed ? " dashed" : "");
  const std::string title = fmt::format("<title>{}: {:.4g} at {:.4g}</title>", escaped(curve.name),
                                        curve.points.back().y, curve.points.back().x);
  if (curve.points.size() == 1 || curve.scattered) {  // a line of one point would not be visible
    std::string circles;
    for (const Curve::Point& point : curve.points) {
      circles += fmt::format(
          "<circle {} cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{}: {:.4g} at "
          "{:.4g}</title></circle>\n",
          look, x_px(x, point.x), y_px(y, point.y), escaped(curve.name), point.y, point.x);
    }
    return circles;
  }
  std::string path;
  for (const Curve::Point& point : thinned(curve.points)) {
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? 'M' : 'L', x_px(x, point.x),
                        y_px(y, point.y));
  }
  return fmt::format("<path {} d=\"{}\">{}</path>\n", look, path, title);
}

std::string axes_of(const CurveChart& chart, const Axis& x, const Axis& y) {
  std::string out;
  for (const double tick : y.ticks) {
    const double at = y_px(y, tick);
    out += fmt::format("<line class=\"axis\" x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\"/>\n",
                       kLeft, at, kWidth - kRight, at);
    out += fmt::format(
        "<text class=\"tick last\" x=\"{}\" y=\"{:.1f}\">{}</text>\n", kLeft - 5, at + 4,
        chart.percent ? fmt::format("{:.6g} %", 100 * tick) : fmt::format("{:.6g}", tick));
  }
  for (const double tick : x.ticks) {
    out += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\">{:.6g}</text>\n",
                       x_px(x, tick), kTop + kHeight + 15, tick);
  }
  return out + fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                           (kLeft + kWidth - kRight) / 2, kTop + kHeight + 30,
                           escaped(chart.x_name));
}

}  // namespace

std::string curves_svg(const CurveChart& chart) {
  Range xs;
  for (const Curve& curve : chart.curves) {
    for (const Curve::Point& point : curve.points) xs.add(point.x);
  }
  if (xs.most < xs.least) return "";
  const Axis x = x_axis_of(chart, xs);
  const Axis y = y_axis_of(chart);
  std::string out =
      fmt::format("<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
                  kWidth, kTop + kHeight + kBottom, escaped(chart.name));
  out += axes_of(chart, x, y);
  for (const Curve& curve : chart.curves) {
    if (!curve.points.empty()) out += bars_of(curve, x, y) + line_of(curve, x, y);
  }
  return out + "</svg>\n";
}

}  // namespace winnow::app

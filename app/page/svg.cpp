#include "app/page/svg.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "app/page/html.h"
#include "app/words.h"

namespace winnow::app {
namespace {

constexpr double kBarsWidth = 440;
constexpr double kBarsHeight = 150;
constexpr double kBarsTop = 18;     // room for the share above a column
constexpr double kBarsBottom = 22;  // room for ticks

std::string open_svg(const std::string& name, double height) {
  return fmt::format("<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
                     kBarsWidth, height, escaped(name));
}

// Empty below one percent: the column is hardly visible.
std::string share_of(std::uint64_t count, std::uint64_t total) {
  const double share = 100 * static_cast<double>(count) / static_cast<double>(total);
  return share < 1 ? "" : fmt::format("{:.0f} %", share);
}

double part_of(std::uint64_t count, std::uint64_t most) {
  return most == 0 ? 0 : static_cast<double>(std::min(count, most)) / static_cast<double>(most);
}

}  // namespace

std::string columns_svg(const std::string& name, const std::vector<Column>& columns) {
  constexpr double kWidest = 64;
  constexpr std::size_t kMostTicks = 9;
  constexpr std::size_t kMostShares = 14;
  std::uint64_t most = 0;
  std::uint64_t total = 0;
  for (const Column& column : columns) {
    most = std::max(most, column.count);
    total += column.count;
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, columns.size()));
  const double step = std::min(kWidest, kBarsWidth / count);
  const double left = (kBarsWidth - step * count) / 2;
  const double floor = kBarsTop + kBarsHeight;
  const auto ticks = static_cast<std::size_t>(
      std::ranges::count_if(columns, [](const Column& c) { return !c.tick.empty(); }));
  const std::size_t every = (ticks + kMostTicks - 1) / kMostTicks;
  std::string out = open_svg(name, floor + kBarsBottom);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    const double x = left + step * static_cast<double>(i);
    const double height = kBarsHeight * part_of(column.count, most);
    if (column.count > 0) {
      out += fmt::format(
          "<g><title>{}</title><rect class=\"bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
          "height=\"{:.1f}\" rx=\"1.5\"/>",
          escaped(column.title), x + 1, floor - std::max(height, 1.0), std::max(step - 2, 0.5),
          std::max(height, 1.0));
      if (columns.size() <= kMostShares) {
        out += fmt::format("<text class=\"value\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                           x + step / 2, floor - height - 5, share_of(column.count, total));
      }
      out += "</g>\n";
    }
    if (!column.tick.empty() && i % every == 0) {
      out += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + step / 2,
                         floor + 15, escaped(column.tick));
    }
  }
  return out +
         fmt::format("<line class=\"axis\" x1=\"0\" y1=\"{0}\" x2=\"{1}\" y2=\"{0}\"/>\n",
                     floor + 0.5, kBarsWidth) +
         "</svg>\n";
}

std::string bar_svg(const std::vector<std::uint64_t>& parts, std::uint64_t most) {
  constexpr double kUnits = 200;
  std::string out = fmt::format(
      "<svg class=\"level\" viewBox=\"0 0 {} 10\" preserveAspectRatio=\"none\" "
      "aria-hidden=\"true\"><rect class=\"rest\" width=\"{}\" height=\"10\"/>",
      kUnits, kUnits);
  double x = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == 0) continue;
    const double width = std::max(0.5, kUnits * part_of(parts[i], most));
    out += fmt::format("<rect class=\"part{}\" x=\"{:.2f}\" width=\"{:.2f}\" height=\"10\"/>",
                       i % 4, x, width);
    x += width;
  }
  return out + "</svg>";
}

std::string falling_svg(const std::string& name, std::vector<std::uint64_t> numbers) {
  if (numbers.empty()) return "";
  constexpr std::size_t kPoints = 220;
  std::ranges::sort(numbers, std::greater<>());
  const double floor = kBarsTop + kBarsHeight;
  const std::size_t points = std::min(kPoints, numbers.size());
  const double step = kBarsWidth / static_cast<double>(points);
  std::string path = fmt::format("M0,{:.1f}", floor);
  for (std::size_t i = 0; i < points; ++i) {
    const std::uint64_t number = numbers[i * numbers.size() / points];
    const double y = floor - kBarsHeight * part_of(number, numbers.front());
    path += fmt::format("V{:.1f}H{:.1f}", y, step * static_cast<double>(i + 1));
  }
  return open_svg(name, floor + kBarsBottom) +
         fmt::format("<path class=\"bar\" d=\"{}V{:.1f}Z\"/>\n", path, floor) +
         fmt::format("<text class=\"value first\" x=\"2\" y=\"{:.1f}\">{}</text>\n", kBarsTop - 5,
                     grouped(numbers.front())) +
         fmt::format(
             "<text class=\"tick last\" x=\"{}\" y=\"{:.1f}\">{} classes, the smallest {}"
             "</text>\n</svg>\n",
             kBarsWidth - 2, floor + 15, grouped(numbers.size()), grouped(numbers.back()));
}

}  // namespace winnow::app

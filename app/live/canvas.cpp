#include "app/live/canvas.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>

namespace winnow::app {
namespace {

// A place in [0, places).
int place_of(double value, const Range& range, int places) {
  const double place = range.share(value) * (places - 1);
  return std::clamp(static_cast<int>(std::lround(place)), 0, places - 1);
}

}  // namespace

void Canvas::dot(int x, int y) {
  static constexpr std::array<std::array<unsigned char, 2>, 4> kBits{
      {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
  cell(x, y).dots |= kBits[static_cast<std::size_t>(y % 4)][static_cast<std::size_t>(x % 2)];
}

void Canvas::line(int x0, int y0, int x1, int y1) {
  const int length = std::max(std::abs(x1 - x0), std::abs(y1 - y0));
  for (int i = 0; i <= length; ++i) {
    const double share = length == 0 ? 0 : static_cast<double>(i) / length;
    dot(x0 + static_cast<int>(std::lround(share * (x1 - x0))),
        y0 + static_cast<int>(std::lround(share * (y1 - y0))));
  }
}

std::string Canvas::row(int number) const {
  std::string text;
  for (int column = 0; column < columns_; ++column) {
    const Cell& cell = cells_[static_cast<std::size_t>(number * columns_ + column)];
    if (cell.letter != '\0') {
      text += cell.letter;
    } else if (cell.dots == 0) {
      text += ' ';
    } else {  // the character U+2800 + dots
      text += '\xE2';
      text += static_cast<char>(0xA0 + (cell.dots >> 6));
      text += static_cast<char>(0x80 + (cell.dots & 0x3F));
    }
  }
  return text;
}

CurveRanges ranges_of(const LiveCurves& curves) {
  CurveRanges ranges;
  ranges.epochs.add(0);
  for (const auto* points : {&curves.train, &curves.val, &curves.test}) {
    for (const LivePoint& point : *points) {
      ranges.epochs.add(point.epoch);
      ranges.values.add(point.value);
    }
  }
  return ranges;
}

void draw(Canvas& canvas, const LiveCurves& curves, const CurveRanges& ranges) {
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

}  // namespace winnow::app

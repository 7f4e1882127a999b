#pragma once

#include <string>
#include <vector>

#include "app/live/live_state.h"
#include "app/page/range.h"

namespace winnow::app {

// A drawing in a terminal, with braille characters of 2 x 4 dots.
class Canvas {
 public:
  Canvas(int columns, int rows)
      : columns_(columns), cells_(static_cast<std::size_t>(columns) * rows), rows_(rows) {}
  int dots_x() const { return 2 * columns_; }
  int dots_y() const { return 4 * rows_; }

  // Draws a dot, or a line. Coordinates are dots in [0, dots_x) and [0, dots_y), from the top left
  // corner.
  void dot(int x, int y);
  void line(int x0, int y0, int x1, int y1);
  // Puts a letter in place of the character at a dot.
  void mark(int x, int y, char letter) { cell(x, y).letter = letter; }

  std::string row(int number) const;  // UTF-8

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

// The ranges of the axes of a chart; that of epochs begins at 0.
struct CurveRanges {
  Range epochs;
  Range values;
};
CurveRanges ranges_of(const LiveCurves& curves);

// Draws the curve of training as a line, evaluations as letters.
void draw(Canvas& canvas, const LiveCurves& curves, const CurveRanges& ranges);

}  // namespace winnow::app

#pragma once

#include <optional>
#include <string>
#include <vector>

namespace winnow::app {

// Shares over numbers or over shares, as a picture of its own.
struct LineChart {
  struct Line {
    std::string name;
    std::vector<std::optional<double>> shares;  // 0..1; gaps where there is none
    double step = 1;                            // they are at 0, step, 2 * step, ...
    bool dashed = false;
    int colour = 0;  // lines of one colour belong together
  };
  struct Mark {  // an upright line
    double x = 0;
    std::string name;
    int colour = 0;  // as of lines
  };
  std::string title;
  std::string x_name;
  bool x_percent = false;  // ticks of the axis are shares
  std::vector<Line> lines;
  std::vector<Mark> marks = {};
};

// An SVG file, for light and dark. Texts are escaped here.
std::string svg_of(const LineChart& chart);

}  // namespace winnow::app

#pragma once

#include <optional>
#include <string>
#include <vector>

namespace winnow::app {

// A stand-alone chart of shares over numbers or over shares.
struct LineChart {
  struct Line {
    std::string name;
    std::vector<std::optional<double>> shares;  // 0..1; nullopt: a gap
    double step = 1;                            // places are 0, step, 2 * step, ...
    bool dashed = false;
    int colour = 0;  // lines of one colour belong together
  };
  struct Mark {  // a vertical line
    double x = 0;
    std::string name;
    int colour = 0;  // as for lines
  };
  std::string title;
  std::string x_name;
  bool x_percent = false;  // ticks of the axis are percentages
  std::vector<Line> lines;
  std::vector<Mark> marks = {};
};

// An SVG file for light and dark. Texts are escaped here.
std::string svg_of(const LineChart& chart);

}  // namespace winnow::app

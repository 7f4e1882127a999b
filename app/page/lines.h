#pragma once

#include <optional>
#include <string>
#include <vector>

namespace winnow::app {

// A stand-alone line chart: y is a share, x a number or a share.
struct LineChart {
  struct Line {
    std::string name;
    std::vector<std::optional<double>> shares;  // y values from 0 to 1; nullopt: a gap in the line
    double step = 1;  // distance of the points in x: they are at 0, step, 2 * step, ...
    bool dashed = false;
    int colour = 0;  // index of the line's colour; related lines share one
  };
  // A vertical line of the chart, at x.
  struct Mark {
    double x = 0;
    std::string name;
    int colour = 0;  // index of the mark's colour, as for lines
  };
  std::string title;
  std::string x_name;
  bool x_percent = false;  // whether the x axis is labelled in percent
  std::vector<Line> lines;
  std::vector<Mark> marks = {};
};

// Draws the chart as an SVG file for light and dark mode. Escapes all texts.
std::string svg_of(const LineChart& chart);

}  // namespace winnow::app

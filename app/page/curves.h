#pragma once

#include <string>
#include <vector>

namespace winnow::app {

// One curve of a chart: y as a function of x.
struct Curve {
  struct Point {
    double x = 0;
    double y = 0;       // |x| and |y| are at most 1e100
    double spread = 0;  // half the length of the error bar; 0: no error bar
  };
  std::string name;           // name of the curve, shown on hover
  std::vector<Point> points;  // points, sorted by ascending x
  int colour = 0;             // colour of the curve: style class run0 to run7
  bool dashed = false;
  bool scattered = false;  // points only, without a line
};

struct CurveChart {
  std::string name;  // alternative text for people who cannot see the chart
  std::string x_name;
  bool percent = false;      // y is a share from 0 to 1, shown in percent
  bool log_if_wide = false;  // logarithmic y axis if positive values differ by a factor of 50
  bool log_x = false;  // logarithmic x axis for points with x above 0; else the axis begins at 0
  std::vector<Curve> curves;
};

// Draws a chart as SVG (svg.h). If there are hundreds of points, means of neighbours are drawn.
// Returns an empty text if there is no point.
std::string curves_svg(const CurveChart& chart);

}  // namespace winnow::app

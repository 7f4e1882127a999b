#pragma once

#include <string>
#include <vector>

namespace winnow::app {

// One number as a function of another, drawn as a line.
struct Curve {
  struct Point {
    double x = 0;
    double y = 0;       // both at most 1e100 in size
    double spread = 0;  // half the length of an error bar; 0: none
  };
  std::string name;           // shown on hover
  std::vector<Point> points;  // by ascending x
  int colour = 0;             // style class run0 to run7
  bool dashed = false;
  bool scattered = false;  // points without a line
};

struct CurveChart {
  std::string name;  // text for people who cannot see it
  std::string x_name;
  bool percent = false;      // y is a share, 0 to 1
  bool log_if_wide = false;  // a logarithmic axis if positive values differ by a factor of 50
  bool log_x = false;        // logarithmic, for points above 0; else the axis begins at 0
  std::vector<Curve> curves;
};

// A chart in SVG (svg.h). Hundreds of points are drawn as means of neighbours. Empty if there is no
// point.
std::string curves_svg(const CurveChart& chart);

}  // namespace winnow::app

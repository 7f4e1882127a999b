#pragma once

#include <string>
#include <vector>

namespace winnow::app {

// A number over another, as a line of a picture.
struct Curve {
  struct Point {
    double x = 0;
    double y = 0;       // both at most 1e100 in size
    double spread = 0;  // half the length of a bar there; 0: none
  };
  std::string name;           // shown when pointed at
  std::vector<Point> points;  // by ascending x
  int colour = 0;             // class run0 to run7
  bool dashed = false;
  bool scattered = false;  // points without a line
};

struct CurveChart {
  std::string name;  // for people who cannot see it
  std::string x_name;
  bool percent = false;      // y is a share, 0 to 1
  bool log_if_wide = false;  // a logarithmic axis where numbers above 0 differ by a factor of 50
  bool log_x = false;        // points are above 0 there; else the axis begins at 0
  std::vector<Curve> curves;
};

// A picture of a page, like those of svg.h. Hundreds of points are drawn as means of neighbours.
// Empty where there is no point.
std::string curves_svg(const CurveChart& chart);

}  // namespace winnow::app

#pragma once

#include <optional>
#include <string>
#include <vector>

namespace winnow::tools {

// Shares over whole numbers, as a picture of its own.
struct LineChart {
  struct Line {
    std::string name;
    std::vector<std::optional<double>> shares;  // 0..1 at 0, 1, ...; gaps where there is none
    bool dashed = false;
    int colour = 0;  // lines of one colour belong together
  };
  std::string title;
  std::string x_name;
  std::vector<Line> lines;
};

// An SVG file, for light and dark. Texts are escaped here.
std::string svg_of(const LineChart& chart);

}  // namespace winnow::tools

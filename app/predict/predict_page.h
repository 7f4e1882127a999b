#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/predict/predict.h"
#include "common/bytes.h"

namespace winnow::app {

// A picture with the probability map of one class, as the page shows it.
struct ShownMap {
  std::string name;      // name of the picture; any bytes
  std::string of_class;  // name of the class, UTF-8
  Bytes jpeg;            // downscaled picture as a JPEG
  Bytes png;             // map as a PNG overlay
  // Sides of the map relative to those of the picture: 1 or slightly more, because the last points
  // may reach beyond the picture.
  double height = 1;
  double width = 1;
};

// Content of the page of `winnow predict`.
struct PredictPage {
  PredictReport report;
  std::string title;     // name of the input; any bytes
  std::string by;        // name of the net, as shown to people; any bytes
  double threshold = 0;  // probability threshold, for nets with several labels per image
  // Pictures of examples as JPEGs, by index among the inputs.
  std::map<std::uint64_t, Bytes> jpegs{};
  std::vector<ShownMap> maps{};
};

// Reads the page's pictures: those of the examples in a report, up to 8 MB, and the first maps.
// Throws StoppedError.
PredictPage read_predict_page(const PredictRequest& request, const PredictReport& report);

// The page of `winnow predict`: self-contained HTML, well-formed XML, too. `made`: when, by which
// version and on which machine. Pure.
std::string html_of(const PredictPage& page, const std::string& made);

}  // namespace winnow::app

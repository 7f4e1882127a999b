#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/predict/predict.h"
#include "common/bytes.h"

namespace winnow::app {

// The map of a class over its picture.
struct ShownMap {
  std::string name;      // name of the picture; any bytes
  std::string of_class;  // UTF-8
  Bytes jpeg;            // a small version of the picture
  Bytes png;             // the map
  // Sides of the PNG relative to the picture: 1 or slightly more, because the last points may reach
  // beyond it.
  double height = 1;
  double width = 1;
};

// Content of the page of `winnow predict`.
struct PredictPage {
  PredictReport report;
  std::string title;                       // name of the input; any bytes
  std::string by;                          // name of the net for people; any bytes
  double threshold = 0;                    // for nets with several labels per image
  std::map<std::uint64_t, Bytes> jpegs{};  // pictures of examples by their place in the inputs
  std::vector<ShownMap> maps{};
};

// Reads pictures of the examples in a report, up to 8 MB, and the maps of the first ones. Throws
// StoppedError.
PredictPage read_predict_page(const PredictRequest& request, const PredictReport& report);

// Self-contained HTML, also well-formed XML. `made`: when and by what. Pure.
std::string html_of(const PredictPage& page, const std::string& made);

}  // namespace winnow::app

#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/predict/predict.h"
#include "common/bytes.h"

namespace winnow::app {

// The map of a class, laid over its picture.
struct ShownMap {
  std::string name;      // of the picture; any bytes
  std::string of_class;  // UTF-8
  Bytes jpeg;            // the picture, made smaller
  Bytes png;             // the map
  // Sides of the PNG in those of the picture: 1 or a little more, as its last points may reach
  // beyond.
  double height = 1;
  double width = 1;
};

// All that the page of `winnow predict` shows.
struct PredictPage {
  PredictReport report;
  std::string title;                       // what was predicted; any bytes
  std::string by;                          // the net, as people call it; any bytes
  double threshold = 0;                    // of nets of several labels
  std::map<std::uint64_t, Bytes> jpegs{};  // pictures of examples by their place in the inputs
  std::vector<ShownMap> maps{};
};

// Reads the pictures of the examples in a report, as far as 8 MB of them go, and the maps of the
// first of them. Throws StoppedError.
PredictPage read_predict_page(const PredictRequest& request, const PredictReport& report);

// It needs nothing but itself and is well-formed XML too. `made`: when, by what. Pure.
std::string html_of(const PredictPage& page, const std::string& made);

}  // namespace winnow::app

#pragma once

#include <filesystem>
#include <string>

#include "app/predict/predict.h"
#include "app/session.h"
#include "app/sources/reading.h"

namespace winnow::app {

struct PredictCommand {
  PredictRequest request;
  ReadingOptions reading;
  std::string table = "csv";
  std::string dtype = "f32";
  WindowOptions windows;
  std::string pool = "mean";
  std::string map_format = "npy";
  std::uint64_t memory_mib = 2048;
  std::filesystem::path report;
  bool status = false;
  bool json = false;
};

// Predicts and prints the results, or with `status` only shows the progress. Collective: all ranks
// call it.
void run_predict(PredictCommand command, Session& session);

}  // namespace winnow::app

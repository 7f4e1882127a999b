#pragma once

#include <filesystem>

#include "app/session.h"
#include "train/run/record/stored_run.h"

namespace winnow::app {

struct OnnxRequest {
  std::filesystem::path run;
  std::filesystem::path to;
  train::CheckpointChoice checkpoint;
  std::filesystem::path cache;
};

// Exports the net of a training run to ONNX.
void run_onnx(const OnnxRequest& request, const Session& session);

}  // namespace winnow::app

#include "train/backend/backend.h"

#include <string>

#include "common/error.h"
#include "train/backend/weights.h"

namespace winnow::train {

std::vector<std::unique_ptr<Program>> Backend::compile_lanes(const Graph& graph,
                                                             const CompileOptions& options,
                                                             int lanes) {
  if (lanes != 1) {
    throw Error("backend " + std::string(name()) + " has one lane, not " + std::to_string(lanes));
  }
  std::vector<std::unique_ptr<Program>> programs;
  programs.push_back(compile(graph, options));
  return programs;
}

std::unique_ptr<Weights> Backend::make_weights(std::vector<WeightTensor>, const UpdateRule&) {
  return nullptr;
}

}  // namespace winnow::train

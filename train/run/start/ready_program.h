#pragma once

#include <list>
#include <memory>
#include <set>
#include <vector>

#include "train/backend/backend.h"
#include "train/backend/weights.h"
#include "train/model/model.h"

namespace winnow::train {

// A compiled program with its own memory, ready to run: inputs are zeros, weights are random. For
// measurements.
class ReadyProgram {
 public:
  // `backend` must outlive this object.
  ReadyProgram(Backend& backend, const Graph& graph, const CompileOptions& options);

  Program& operator*() noexcept { return *program_; }
  Program* operator->() noexcept { return program_.get(); }

 private:
  void bind(ValueId id);

  Model model_;
  std::unique_ptr<WeightStore> weights_;
  std::unique_ptr<Program> program_;
  std::set<ValueId> bound_;
  std::list<std::vector<float>> floats_;
  std::list<std::vector<std::uint8_t>> bytes_;
};

}  // namespace winnow::train

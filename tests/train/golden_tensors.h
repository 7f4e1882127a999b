#pragma once

#include "tests/common/vectors.h"
#include "tests/train/run_operation.h"

namespace winnow::train {

// A tensor as golden_tensors.py wrote it.
inline Given given(const JsonReader& tensor) {
  Given given;
  for (const std::uint64_t extent : tensor.at("shape").numbers()) {
    given.shape.push_back(static_cast<std::int64_t>(extent));
  }
  given.numbers = test::reals(tensor.at("numbers"));
  return given;
}

}  // namespace winnow::train

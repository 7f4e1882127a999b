#pragma once

#include <cstdint>

namespace winnow::train {

// The function that an activation applies to each element.
enum class ActivationKind : std::uint8_t {
  kRelu6,        // min(max(x, 0), 6)
  kSigmoid,      // 1 / (1 + exp(-x))
  kHardSigmoid,  // relu6(x + 3) / 6
  kHardSwish,    // x * relu6(x + 3) / 6
  kSilu,         // x * sigmoid(x), also called swish
  kGelu,         // x * Phi(x) with the normal distribution's Phi, exact by erf
};

}  // namespace winnow::train

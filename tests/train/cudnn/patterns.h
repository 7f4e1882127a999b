#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "train/backend/cudnn/cudnn_convolution_internal.h"

// Operations that cuDNN fuses with a convolution, asked without a card. patterns.cpp has the graph
// of each.
namespace winnow::train::cudnn {

enum class Pattern : std::uint8_t {
  kStatistics,      // y = convolution; sums of y and of its squares by channel
  kNorm,            // convolution of relu(scale * x + bias)
  kSkip,            // convolution of relu(scale * x + bias + skip)
  kNormStatistics,  // kNorm with the sums of kStatistics
  kFilter,          // the filter's gradient, of relu(scale * x + bias)
  kData,            // the data's gradient behind ReLU, with the sums of the norm before that
};
std::span<const Pattern> patterns();
std::string_view name_of(Pattern pattern) noexcept;

// A card that this machine need not have.
struct SimulatedCard {
  std::string name;
  std::string properties;  // in the form of cuDNN's JSON
};
std::span<const SimulatedCard> simulated_cards();  // H200, A100, H100, B200

// Names of the first plans that cuDNN proposes; nullopt: it has none.
struct PatternPlans {
  std::optional<std::string> any;
  std::optional<std::string> deterministic;  // the same bits in every run
};
// For `layer`, a forward convolution, of which only extents and type are used.
PatternPlans find_pattern(Pattern pattern, const ConvolutionDescription& layer,
                          const PlanTarget& target);

}  // namespace winnow::train::cudnn

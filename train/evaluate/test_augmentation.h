#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "pipeline/load/views.h"

namespace winnow::train {

// Which predictions for an image's views are averaged.
enum class MeanOf : std::uint8_t { kProbabilities, kLogits };
std::string_view mean_of_name(MeanOf mean) noexcept;  // "probabilities", "logits"

struct WeightedView {
  pipeline::View view;
  double weight;
};

// A row of the table of test-time augmentations: an image's prediction is a weighted mean over its
// views.
struct TestAugmentation {
  std::string_view name;
  std::string_view what;
  MeanOf mean;
  std::span<const WeightedView> views;  // weights sum to 1
};
std::span<const TestAugmentation> test_augmentations();
const TestAugmentation& find_test_augmentation(
    std::string_view name);  // UsageError naming the known ones

}  // namespace winnow::train

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "pipeline/load/views.h"

namespace winnow::train {

// Which predictions for the views of an image are averaged.
enum class MeanOf : std::uint8_t { kProbabilities, kLogits };
// Name of the kind of mean: "probabilities", "logits".
std::string_view mean_of_name(MeanOf mean) noexcept;

struct WeightedView {
  pipeline::View view;
  double weight;
};

// One test-time augmentation: a row of test_augmentations(). An image's prediction is a weighted
// mean over its views.
struct TestAugmentation {
  std::string_view name;
  std::string_view what;
  MeanOf mean;
  std::span<const WeightedView> views;  // views of an image; their weights sum to 1
};
std::span<const TestAugmentation> test_augmentations();
const TestAugmentation& find_test_augmentation(
    std::string_view name);  // throws UsageError, which names the known augmentations

}  // namespace winnow::train

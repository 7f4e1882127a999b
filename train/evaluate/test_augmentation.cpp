#include "train/evaluate/test_augmentation.h"

#include <array>
#include <string>

#include "common/row_called.h"

namespace winnow::train {
namespace {

constexpr auto kMirror = std::to_array<WeightedView>({
    {{0, 0, false}, 0.5},
    {{0, 0, true}, 0.5},
});
constexpr auto kShift = std::to_array<WeightedView>({
    {{0, 0, false}, 0.5},
    {{-1, -1, false}, 0.25},
    {{1, 1, false}, 0.25},
});
// The views and weights of KellerJordan/cifar10-airbench, airbench94.py.
constexpr auto kMirrorShift = std::to_array<WeightedView>({
    {{0, 0, false}, 0.25},
    {{0, 0, true}, 0.25},
    {{-1, -1, false}, 0.125},
    {{-1, -1, true}, 0.125},
    {{1, 1, false}, 0.125},
    {{1, 1, true}, 0.125},
});

constexpr auto kTestAugmentations = std::to_array<TestAugmentation>({
    {"mirror", "the image and its mirror image", MeanOf::kProbabilities, kMirror},
    {"shift", "the image, and copies shifted by one pixel down-right and up-left",
     MeanOf::kProbabilities, kShift},
    {"mirror-shift", "the three views of shift, and their mirror images", MeanOf::kProbabilities,
     kMirrorShift},
    {"airbench94", "the views of mirror-shift, averaging logits as airbench94 does",
     MeanOf::kLogits, kMirrorShift},
});

}  // namespace

std::string_view mean_of_name(MeanOf mean) noexcept {
  return mean == MeanOf::kProbabilities ? "probabilities" : "logits";
}

std::span<const TestAugmentation> test_augmentations() { return kTestAugmentations; }

const TestAugmentation& find_test_augmentation(std::string_view name) {
  return row_called("unknown test-time augmentation", name, kTestAugmentations);
}

}  // namespace winnow::train

#include "app/predict/whole_images.h"

#include <algorithm>
#include <utility>

#include "common/error.h"
#include "pipeline/augment/augment.h"
#include "train/backend/weights.h"
#include "train/run/record/setup.h"

namespace winnow::app {

void put_outputs(const Net& net, const Inputs& inputs, std::uint64_t at,
                 std::span<const float> probabilities, std::span<const float> features,
                 ImageResult& result) {
  if (!train::all_finite(probabilities) || !train::all_finite(features)) {
    throw Error("the net's outputs for '" + inputs.name(at) +
                "' are not finite: its weights are broken, or do not suit --dtype; " +
                (net.checkpoint.empty() ? "use another file of weights"
                                        : "use another --checkpoint than " + net.checkpoint));
  }
  result.probabilities.assign(probabilities.begin(), probabilities.end());
  result.features.assign(features.begin(), features.end());
}

WholeImages::WholeImages(const Net& net, const Inputs& inputs, const ResultsFrom& images)
    : net_(net),
      inputs_(inputs),
      first_(images.first),
      results_(images.results),
      recipe_(train::eval_recipe(net.config.eval_resize_px)) {}

std::optional<Pictures::MicroBatch> WholeImages::next() {
  const std::size_t begin = next_;
  const std::size_t count = std::min(net_.micro_batch(), results_.size() - begin);
  if (count == 0) return std::nullopt;
  next_ += count;
  return MicroBatch{
      count, [this, begin, count](std::span<std::uint8_t> pixels) { fill(begin, count, pixels); }};
}

void WholeImages::fill(std::size_t begin, std::size_t count, std::span<std::uint8_t> pixels) const {
  const pipeline::Geometry geometry = net_.geometry();
  const std::size_t size = pixels.size() / net_.micro_batch();
  std::ranges::fill(pixels, std::uint8_t{0});
  for (std::size_t i = 0; i < count; ++i) {
    ImageResult& result = results_[begin + i];
    auto loaded = inputs_.load(first_ + begin + i);
    if (!loaded) {
      result.fate = loaded.error().fate;
      result.reason = loaded.error().reason;
      continue;
    }
    result.reason = std::move(loaded->warning);
    result.height_px = loaded->image.height_px;
    result.width_px = loaded->image.width_px;
    pipeline::augment(loaded->image.view(), recipe_, geometry,
                      {0, 0, inputs_.id(first_ + begin + i)}, pixels.subspan(i * size, size));
  }
}

void WholeImages::take(const MicroBatch& batch, const Outputs& outputs) {
  const std::size_t classes = outputs.probabilities.size() / net_.micro_batch();
  const std::size_t dimensions = outputs.features.size() / net_.micro_batch();
  for (std::size_t i = 0; i < batch.count; ++i) {
    ImageResult& result = results_[taken_ + i];
    if (result.fate != pipeline::Fate::kOk) continue;
    put_outputs(net_, inputs_, first_ + taken_ + i,
                std::span(outputs.probabilities).subspan(i * classes, classes),
                std::span(outputs.features).subspan(i * dimensions, dimensions), result);
  }
  taken_ += batch.count;
}

}  // namespace winnow::app

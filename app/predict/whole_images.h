#pragma once

#include <cstdint>
#include <span>

#include "app/predict/inputs.h"
#include "app/predict/net.h"
#include "app/predict/results.h"
#include "app/predict/show.h"

namespace winnow::app {

// Inputs that the net sees whole, as in winnow eval. For an unreadable image the net gets zeros,
// and its result has an outcome (`Fate`) and a reason.
class WholeImages final : public Pictures {
 public:
  WholeImages(const Net& net, const Inputs& inputs, const ResultsFrom& images);

  std::optional<MicroBatch> next() override;
  void take(const MicroBatch& batch, const Outputs& outputs) override;

 private:
  void fill(std::size_t begin, std::size_t count, std::span<std::uint8_t> pixels) const;

  const Net& net_;
  const Inputs& inputs_;
  std::uint64_t first_;
  std::span<ImageResult> results_;
  pipeline::Recipe recipe_;
  std::size_t next_ = 0;
  std::size_t taken_ = 0;
};

// Stores the net's outputs in the result of a picture. Throws Error, which names the picture, if an
// output is not finite.
void put_outputs(const Net& net, const Inputs& inputs, std::uint64_t at,
                 std::span<const float> probabilities, std::span<const float> features,
                 ImageResult& result);

}  // namespace winnow::app

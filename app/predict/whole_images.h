#pragma once

#include <cstdint>
#include <span>

#include "app/predict/inputs.h"
#include "app/predict/net.h"
#include "app/predict/results.h"
#include "app/predict/show.h"

namespace winnow::app {

// Images of the inputs, each shown whole as winnow eval shows it.
// One that cannot be read is a class and a reason in its result, and zeros to the net.
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

// Gives a result what a net said of its picture. Throws Error naming it where that is no number.
void put_outputs(const Net& net, const Inputs& inputs, std::uint64_t at,
                 std::span<const float> probabilities, std::span<const float> features,
                 ImageResult& result);

}  // namespace winnow::app

#include "pipeline/load/views.h"

#include "common/error.h"
#include "common/image.h"
#include "pipeline/augment/ops/geometry.h"

namespace winnow::pipeline {

void show(const Batch& batch, const View& view, std::span<std::uint8_t> pixels) {
  if (pixels.size() != batch.pixels.size())
    throw Error("the buffer of a view must be as large as the batch");
  PixelSpan out{pixels.data(), batch.height_px, batch.width_px, batch.channels};
  ImageView in = out.view();
  in.data = batch.pixels.data();
  for (std::size_t i = 0; i < batch.size(); ++i, in.data += out.size(), out.data += out.size()) {
    place_reflected(in, view.top_px, view.left_px, view.mirrored, out);
  }
}

}  // namespace winnow::pipeline

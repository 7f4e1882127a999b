#include "pipeline/decode/crop.h"

#include <utility>

#include "common/resample.h"

namespace winnow::pipeline {

int covering_scale(Size crop, Size target) noexcept {
  int scale = 8;
  while (scale > 1 &&
         (crop.height_px / scale < target.height_px || crop.width_px / scale < target.width_px)) {
    scale /= 2;
  }
  return scale;
}

Expected<DecodedImage, DecodeError> decode_and_resize_crop(
    BytesView encoded, const DecodeSettings& settings, const std::function<Box(Size whole)>& choose,
    Size target, CropScale scale, const DecodeHooks& hooks) {
  auto crop = decode_crop(
      encoded, settings,
      [&](Size whole) {
        const Box box = choose(whole);
        const bool covering = scale == CropScale::kCovering;
        return Crop{box, covering ? covering_scale({box.height_px, box.width_px}, target) : 1};
      },
      hooks);
  if (!crop) return crop.error();
  static_cast<Image&>(*crop) = resize(crop->view(), crop->region, target.height_px, target.width_px,
                                      ResampleFilter::kBilinear);
  return static_cast<DecodedImage&&>(*std::move(crop));
}

}  // namespace winnow::pipeline

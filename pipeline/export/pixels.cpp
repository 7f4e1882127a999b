#include "pipeline/export/pixels.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/resample.h"
#include "pipeline/decode/shrink.h"
#include "pipeline/decode/upon_gray.h"

namespace winnow::pipeline {

namespace {

Expected<DecodedImage, DecodeError> decoded(const RecordView& record, DecodeSettings settings,
                                            int scale, bool keep_alpha) {
  if (record.coding == Coding::kRaw) {
    Image image(record.height_px, record.width_px, record.channels);
    std::memcpy(image.pixels.data(), record.payload.data(), image.pixels.size());
    return DecodedImage(scale > 1 ? box_average(image.view(), scale) : std::move(image));
  }
  // A picture larger than recorded is not the one that was stored.
  settings.max_pixels =
      static_cast<std::uint64_t>(record.height_px) * static_cast<std::uint64_t>(record.width_px);
  return decode(record.payload, settings, {.keep_alpha = keep_alpha}, {}, scale);
}

}  // namespace

Expected<Image, DecodeError> pixels_of(const RecordView& record, DecodeSettings settings,
                                       int scale) {
  auto image = decoded(record, settings, scale, /*keep_alpha=*/false);
  if (!image) return image.error();
  return Image(*std::move(image));
}

Expected<Image, DecodeError> seen_pixels_of(const RecordView& record, DecodeSettings settings,
                                            int scale) {
  auto image = decoded(record, settings, scale, /*keep_alpha=*/true);
  if (!image) return image.error();
  return as_seen(*std::move(image), scale);
}

std::optional<Image> shrunk_to(ImageView image, int side_px) {
  const int longest = std::max(image.height_px, image.width_px);
  if (longest <= side_px) return std::nullopt;
  return resize(image, side_where_longer_is(side_px, image.height_px, longest),
                side_where_longer_is(side_px, image.width_px, longest), ResampleFilter::kBilinear);
}

}  // namespace winnow::pipeline

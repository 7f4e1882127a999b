#include "pipeline/export/pixels.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/resample.h"
#include "pipeline/decode/shrink.h"

namespace winnow::pipeline {

Expected<Image, DecodeError> pixels_of(const RecordView& record, DecodeSettings settings,
                                       int scale) {
  if (record.coding == Coding::kRaw) {
    Image image(record.height_px, record.width_px, record.channels);
    std::memcpy(image.pixels.data(), record.payload.data(), image.pixels.size());
    if (scale > 1) return box_average(image.view(), scale);
    return image;
  }
  // A larger picture than the record says is not the one that was stored.
  settings.max_pixels =
      static_cast<std::uint64_t>(record.height_px) * static_cast<std::uint64_t>(record.width_px);
  auto image = decode(record.payload, settings, {}, {}, scale);
  if (!image) return image.error();
  return Image(*std::move(image));
}

std::optional<Image> shrunk_to(ImageView image, int side_px) {
  const int longest = std::max(image.height_px, image.width_px);
  if (longest <= side_px) return std::nullopt;
  return resize(image, side_where_longer_is(side_px, image.height_px, longest),
                side_where_longer_is(side_px, image.width_px, longest), ResampleFilter::kBilinear);
}

}  // namespace winnow::pipeline

#include "pipeline/ingest/stored_form.h"

#include <algorithm>

#include "pipeline/augment/variants.h"
#include "pipeline/decode/encode.h"
#include "pipeline/decode/shrink.h"

namespace winnow::pipeline {

void StoredForm::make(const Place& place, Readable& input) const {
  if (variants_.copies == 0) return resize(input);
  const Split split = place.entries().split(place.position);
  input.smaller = make_variants(input.image.view(), variants_, split, place.id());
  input.variants = variant_count(variants_, split);
}

void StoredForm::resize(Readable& input) const {
  const Image& image = input.image;
  const auto size = shrunk({image.height_px, image.width_px}, resize_.short_side_px);
  if (!size) return;
  const bool encoded = store_ == Store::kOriginal && !input.encoded.empty();
  if (encoded && std::max(size->height_px, size->width_px) > kMaxJpegSide) return;
  // Additional memory: rows of the new width, the new pixels, and the JPEG.
  const auto bytes_of = [](int height, int width) {
    return static_cast<std::uint64_t>(height) * static_cast<std::uint64_t>(width) * 3;
  };
  input.pixel_credit.grow_to(input.pixel_credit.bytes() +
                             bytes_of(image.height_px, size->width_px) +
                             2 * bytes_of(size->height_px, size->width_px));
  input.smaller = shrink(image.view(), resize_.short_side_px);
  if (!encoded) return;
  input.encoded = encode_jpeg(input.smaller->view(), resize_.quality);
  input.smaller->pixels = {};
}

RecordView StoredForm::record_of(const Place& place, const Readable& input,
                                 std::span<const std::int32_t> labels) const {
  const datasets::Listing& entries = place.entries();
  const bool raw = store_ == Store::kRaw || input.encoded.empty();
  const Image& image = input.smaller ? *input.smaller : input.image;
  return {.id = place.id(),
          .split = entries.split(place.position),
          .coding = raw ? Coding::kRaw : Coding::kEncoded,
          .height_px = (input.smaller ? image.height_px : input.height_px) / input.variants,
          .width_px = input.smaller ? image.width_px : input.width_px,
          .channels = image.channels,
          .labels = labels,
          .group = entries.group(place.position),
          .payload = raw ? as_bytes(image.pixels) : BytesView(input.encoded),
          .variants = input.variants};
}

}  // namespace winnow::pipeline

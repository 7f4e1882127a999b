#include "pipeline/ingest/input.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "common/error.h"
#include "dedup/hash/hashes.h"
#include "pipeline/augment/variants.h"
#include "pipeline/decode/decode.h"
#include "pipeline/decode/upon_gray.h"
#include "pipeline/ingest/prints.h"

namespace winnow::pipeline {
namespace {

using datasets::ReadError;

Refused refused(const ReadError& error) {
  switch (error.kind) {
    case ReadError::Kind::kMissing:
      return {Fate::kMissing, error.detail};
    case ReadError::Kind::kEmpty:
      return {Fate::kEmpty, error.detail};
    case ReadError::Kind::kCorrupt:
      return {Fate::kCorrupt, error.detail};
    case ReadError::Kind::kIo:
      break;
  }
  return {Fate::kUnreadable, error.detail};
}

Refused too_large(std::uint64_t bytes) {
  return {Fate::kTooLarge, "has " + std::to_string(bytes) + " bytes"};
}

}  // namespace

Refused refused(const DecodeError& error) {
  switch (error.kind) {
    case DecodeError::Kind::kTruncated:
      return {Fate::kTruncated, error.detail};
    case DecodeError::Kind::kUnsupported:
      return {Fate::kUnsupported, error.detail};
    case DecodeError::Kind::kTooLarge:
      return {Fate::kTooLarge, error.detail};
    case DecodeError::Kind::kCorrupt:
      break;
  }
  return {Fate::kCorrupt, error.detail};
}

std::string in_words(const Place& place) {
  return "input '" + place.entries().names()[place.position] + "'";
}

Hash128 file_hash(const Readable& input) {
  return input.encoded.empty() ? hash_pixels(input.image) : xxh3_128(input.encoded);
}

InputLoader::InputLoader(const IngestOptions& options)
    : store_(options.store),
      decode_(options.decode),
      stop_(options.work.stop),
      scale_(dedup::common_scale(options.hashes)),
      with_variants_(options.variants.copies > 0),
      variants_room_(2 * variant_bytes(options.variants)) {}

Expected<Readable, Refused> InputLoader::load(const Place& place, ReadResult read,
                                              const TakePixels& take, Image buffer) const {
  const std::uint64_t listed_bytes = place.entries().input_bytes(place.position);
  if (listed_bytes > kMaxInputBytes) return too_large(listed_bytes);
  if (!read) return refused(read.error());
  if (auto* image = std::get_if<Image>(&*read)) {
    return load_pixels(place, std::move(*image), take);
  }
  return load_encoded(std::get<Bytes>(*std::move(read)), take, std::move(buffer));
}

Expected<Readable, Refused> InputLoader::load_pixels(const Place& place, Image image,
                                                     const TakePixels& take) const {
  const auto side = [](int n) { return static_cast<std::uint64_t>(std::max(n, 0)); };
  const std::uint64_t pixels = side(image.height_px) * side(image.width_px);
  if (pixels == 0) return Refused{Fate::kEmpty, "has no pixels"};
  if ((image.channels != 1 && image.channels != 3) ||
      image.pixels.size() != pixels * side(image.channels)) {
    throw Error(in_words(place) +
                " has another number of pixels than its size says: this is a fault of the reader "
                "of its format");
  }
  if (pixels > decode_.max_pixels) {
    return Refused{Fate::kTooLarge, "has " + std::to_string(image.width_px) + " x " +
                                        std::to_string(image.height_px) + " pixels"};
  }
  if (image.pixels.size() > kMaxInputBytes) return too_large(image.pixels.size());
  ByteGate::Credit gray = take(pixels + variants_room_);
  const int height = image.height_px;
  const int width = image.width_px;
  return Readable{.encoded = {},
                  .image = std::move(image),
                  .height_px = height,
                  .width_px = width,
                  .smaller = {},
                  .warning = {},
                  .pixel_credit = std::move(gray)};
}

Expected<Readable, Refused> InputLoader::load_encoded(Bytes bytes, const TakePixels& take,
                                                      Image buffer) const {
  if (bytes.empty()) return Refused{Fate::kEmpty, "has no bytes"};
  if (bytes.size() > kMaxInputBytes) return too_large(bytes.size());
  ByteGate::Credit pixels;
  const BeforeAllocation before = [&](std::uint64_t decoded_bytes) {
    pixels.shrink_to(0);
    pixels = take(decoded_bytes + variants_room_);
  };
  auto image = decode(bytes, decode_, {before, stop_, true}, std::move(buffer), scale_);
  if (!image) return refused(image.error());
  pixels.shrink_to(image->pixels.size() + image->alpha.pixels.size() + variants_room_);
  if (store_ == Store::kRaw && !with_variants_ && image->pixels.size() > kMaxInputBytes) {
    return too_large(image->pixels.size());
  }
  std::string warning = std::move(image->warning);
  const int height = image->whole_height_px;
  const int width = image->whole_width_px;
  const int orientation = image->orientation;
  Image alpha = alpha_at_scale(*image, scale_);
  const bool is_multiplied = image->is_multiplied;
  return Readable{.encoded = std::move(bytes),
                  .image = *std::move(image),
                  .height_px = height,
                  .width_px = width,
                  .smaller = {},
                  .warning = std::move(warning),
                  .orientation = orientation,
                  .alpha = std::move(alpha),
                  .is_multiplied = is_multiplied,
                  .pixel_credit = std::move(pixels)};
}

}  // namespace winnow::pipeline

#include "pipeline/decode/decode.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>

#include "pipeline/decode/header.h"
#include "pipeline/decode/jpeg.h"
#include "pipeline/decode/opencv.h"
#include "pipeline/decode/orientation.h"
#include "pipeline/decode/pnm.h"
#include "pipeline/decode/shrink.h"

namespace winnow::pipeline {
namespace {

using Kind = DecodeError::Kind;

bool has_at(BytesView bytes, std::size_t at, std::string_view magic) {
  return bytes.size() >= at + magic.size() && as_text(bytes.subspan(at, magic.size())) == magic;
}

// An ISO media file whose main brand is one of `brands`.
bool has_brand(BytesView bytes, std::span<const std::string_view> brands) {
  return has_at(bytes, 4, "ftyp") && std::any_of(brands.begin(), brands.end(), [&](auto brand) {
           return has_at(bytes, 8, brand);
         });
}

bool is_avif(BytesView bytes) {
  constexpr std::array<std::string_view, 2> kBrands{"avif", "avis"};
  return has_brand(bytes, kBrands);
}

bool is_heic(BytesView bytes) {
  constexpr std::array<std::string_view, 8> kBrands{"heic", "heix", "hevc", "hevx",
                                                    "heim", "heis", "mif1", "msf1"};
  return has_brand(bytes, kBrands);
}

// Formats that are known by sight but not read, and what helps.
struct Unread {
  std::string_view format;  // as sniff() calls it
  std::string_view what;
  std::string_view advice;
};
constexpr std::array<Unread, 7> kUnread{{
    {"gif", "a GIF", "convert it to PNG with convert of ImageMagick"},
    {"heic", "a HEIC", "convert it to JPEG with heif-convert"},
    {"avif", "an AVIF", "convert it to PNG with avifdec"},
    {"jxl", "a JPEG XL", "convert it to JPEG or PNG with djxl"},
    {"jp2", "a JPEG 2000", "convert it to PNG with opj_decompress"},
    {"psd", "a Photoshop document", "save it as a JPEG or PNG"},
    {"exr", "an OpenEXR", "map its brightness to 8 bits and save it as a PNG"},
}};

bool is_pnm(BytesView bytes) {
  if (bytes.size() < 3 || bytes[0] != std::byte{'P'}) return false;
  const std::string_view text = as_text(bytes.first(3));
  return text[1] >= '1' && text[1] <= '6' &&
         std::string_view(" \t\r\n#").find(text[2]) != std::string_view::npos;
}

Expected<Image, DecodeError> decode_other(std::string_view format, BytesView encoded,
                                          const DecodeSettings& settings,
                                          const BeforeAllocation& before_allocation) {
  const auto header = read_header(format, encoded);
  if (!header) return header.error();
  const std::uint64_t width = header->width_px;
  const std::uint64_t height = header->height_px;
  if (width == 0 || height == 0) return DecodeError{Kind::kCorrupt, "has no pixels"};
  constexpr std::uint64_t kMaxSide = std::numeric_limits<int>::max() / 4;
  if (width > kMaxSide || height > kMaxSide || width * height > settings.max_pixels) {
    return DecodeError{Kind::kTooLarge,
                       "has " + std::to_string(width) + " x " + std::to_string(height) + " pixels"};
  }
  if (before_allocation) before_allocation(width * height * (header->gray ? 1 : 3));
  return format == "pnm" ? decode_pnm(encoded, *header)
                         : decode_opencv(encoded, *header, settings.matte);
}

Expected<DecodedImage, DecodeError> decode_stored(std::string_view format, BytesView encoded,
                                                  const DecodeSettings& settings,
                                                  const BeforeAllocation& before_allocation,
                                                  Image buffer, int scale) {
  if (format == "jpeg") {
    return decode_jpeg(encoded, settings, before_allocation, std::move(buffer), scale);
  }
  auto image = decode_other(format, encoded, settings, before_allocation);
  if (!image) return image.error();
  return DecodedImage(*std::move(image));
}

}  // namespace

std::string_view sniff(BytesView encoded) noexcept {
  using namespace std::string_view_literals;
  if (has_at(encoded, 0, "\xFF\xD8\xFF"sv)) return "jpeg";
  if (has_at(encoded, 0, "\x89PNG\r\n\x1A\n"sv)) return "png";
  if (has_at(encoded, 0, "BM"sv) && encoded.size() > 2) return "bmp";
  if (has_at(encoded, 0, "RIFF"sv) && has_at(encoded, 8, "WEBP"sv)) return "webp";
  if (has_at(encoded, 0, "II\x2A\0"sv) || has_at(encoded, 0, "MM\0\x2A"sv)) return "tiff";
  if (has_at(encoded, 0, "II\x2B\0"sv) || has_at(encoded, 0, "MM\0\x2B"sv)) return "tiff";
  if (has_at(encoded, 0, "GIF87a"sv) || has_at(encoded, 0, "GIF89a"sv)) return "gif";
  if (is_avif(encoded)) return "avif";
  if (is_heic(encoded)) return "heic";
  if (has_at(encoded, 0, "\xFF\x0A"sv) || has_at(encoded, 0, "\0\0\0\x0CJXL \r\n\x87\n"sv)) {
    return "jxl";
  }
  if (has_at(encoded, 0, "\xFF\x4F\xFF\x51"sv) ||
      has_at(encoded, 0, "\0\0\0\x0CjP  \r\n\x87\n"sv)) {
    return "jp2";
  }
  if (has_at(encoded, 0, "8BPS\0"sv)) return "psd";
  if (has_at(encoded, 0, "\x76\x2F\x31\x01"sv)) return "exr";
  if (is_pnm(encoded)) return "pnm";
  return "unknown";
}

Expected<DecodedImage, DecodeError> decode(BytesView encoded, const DecodeSettings& settings,
                                           const BeforeAllocation& before_allocation, Image buffer,
                                           int scale) {
  if (encoded.empty()) return DecodeError{Kind::kTruncated, "has no bytes"};
  if (encoded.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return DecodeError{Kind::kTooLarge, "has more than 2 GiB of encoded bytes"};
  }
  const std::string_view format = sniff(encoded);
  if (format == "unknown") {
    return DecodeError{Kind::kUnsupported, "is no image by its first bytes"};
  }
  for (const Unread& unread : kUnread) {
    if (unread.format != format) continue;
    return DecodeError{Kind::kUnsupported, "is " + std::string(unread.what) +
                                               ", which winnow does not read; " +
                                               std::string(unread.advice)};
  }
  const int orientation =
      settings.orientation == Orientation::kApply ? exif_orientation(format, encoded) : 1;
  BeforeAllocation twice;
  if (orientation > 1 && before_allocation) {
    twice = [&](std::uint64_t bytes) { before_allocation(2 * bytes); };
  }
  auto image = decode_stored(format, encoded, settings, twice ? twice : before_allocation,
                             std::move(buffer), scale);
  if (!image) return image;
  const bool is_whole =
      image->height_px == image->whole_height_px && image->width_px == image->whole_width_px;
  if (scale > 1 && is_whole) static_cast<Image&>(*image) = box_average(image->view(), scale);
  if (orientation > 1) turn(*image, orientation);
  if (swaps_sides(orientation)) std::swap(image->whole_height_px, image->whole_width_px);
  return image;
}

}  // namespace winnow::pipeline

#include "pipeline/decode/decode.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>

#include "common/error.h"
#include "common/known_bytes.h"
#include "pipeline/decode/errors_internal.h"
#include "pipeline/decode/header.h"
#include "pipeline/decode/jpeg.h"
#include "pipeline/decode/orientation.h"
#include "pipeline/decode/pnm.h"
#include "pipeline/decode/rows.h"
#include "pipeline/decode/samples.h"
#include "pipeline/decode/shrink.h"
#include "pipeline/decode/tiff_internal.h"

namespace winnow::pipeline {
namespace {

bool has_at(BytesView bytes, std::size_t at, std::string_view magic) {
  return bytes.size() >= at + magic.size() && as_text(bytes.subspan(at, magic.size())) == magic;
}

// Whether it is an ISO media file with one of these main brands.
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

// Formats that are recognised but cannot be decoded, with advice.
struct Unread {
  std::string_view format;  // as named by sniff()
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

// Maximum memory of decoding, followed by cutting, shrinking or turning.
std::uint64_t most_bytes(const Header& header, const DecodeSettings& settings,
                         const StoredPart& part, bool keep_alpha) {
  const bool is_gray = header.gray || header.channels == 1;
  const int channels = is_gray && (!settings.matte || settings.matte->is_gray()) ? 1 : 3;
  const auto image_bytes = [&](std::uint64_t height, std::uint64_t width) {
    return height * width * static_cast<std::uint64_t>(channels);
  };
  const std::uint64_t whole = image_bytes(header.height_px, header.width_px);
  const std::uint64_t wanted = image_bytes(static_cast<std::uint64_t>(part.box.height_px),
                                           static_cast<std::uint64_t>(part.box.width_px));
  const std::uint64_t copied = wanted < whole || part.is_turned ? wanted : 0;
  const bool has_alpha = header.alpha != Alpha::kNone || header.transparent_gray.has_value();
  const std::uint64_t alpha =
      keep_alpha && has_alpha ? header.height_px * header.width_px * (part.is_turned ? 2 : 1) : 0;
  return std::max(decoding_bytes(header, channels), whole + copied) + alpha;
}

// The reason to refuse a picture with this header, if any.
std::optional<DecodeError> refuse_pixels(const Header& header, const DecodeSettings& settings) {
  const std::uint64_t width = header.width_px;
  const std::uint64_t height = header.height_px;
  if (width == 0 || height == 0) return corrupt("has no pixels");
  constexpr std::uint64_t kMaxSide = std::numeric_limits<int>::max() / 4;
  if (width > kMaxSide || height > kMaxSide || width * height > settings.max_pixels) {
    return too_large("has " + std::to_string(width) + " x " + std::to_string(height) + " pixels");
  }
  if (header.tile_pixels > settings.max_pixels) {
    return too_large("has tiles of " + std::to_string(header.tile_pixels) + " pixels");
  }
  // Everything beyond the border is decoded, too.
  if (header.all_tiles_pixels / 2 > settings.max_pixels) {
    return too_large("has tiles of " + std::to_string(header.all_tiles_pixels) +
                     " pixels in total");
  }
  return std::nullopt;
}

Expected<DecodedImage, DecodeError> decode_other(std::string_view format, BytesView encoded,
                                                 const DecodeSettings& settings,
                                                 const DecodeHooks& hooks,
                                                 const ChoosePart& choose) {
  const auto header = read_header(format, encoded);
  if (!header) return header.error();
  if (auto refused = refuse_pixels(*header, settings)) return *std::move(refused);
  if (hooks.before_allocation) {
    const Size stored{static_cast<int>(header->height_px), static_cast<int>(header->width_px)};
    hooks.before_allocation(most_bytes(*header, settings, choose(stored), hooks.keep_alpha));
  }
  end_if_stopped(hooks.stop);
  if (format == "png") return decode_png(encoded, *header, settings.matte, hooks);
  if (format == "webp") return decode_webp(encoded, *header, settings.matte, hooks);
  if (format == "tiff") return decode_tiff(encoded, *header, settings.matte, hooks);
  if (format == "bmp") return decode_bmp(encoded, *header, settings.matte, hooks);
  auto image = decode_pnm(encoded, *header, hooks.stop);
  if (!image) return image.error();
  return DecodedImage(*std::move(image));
}

// Decodes the part that `choose` returns.
Expected<DecodedImage, DecodeError> decode_stored(std::string_view format, BytesView encoded,
                                                  const DecodeSettings& settings,
                                                  const DecodeHooks& hooks, Image buffer,
                                                  const ChoosePart& choose) {
  const auto from_whole = [&](DecodedImage& image) {
    const Size whole{image.whole_height_px, image.whole_width_px};
    const StoredPart part = choose(whole);
    const Box& box = part.box;
    if (part.scale == 1) {
      if (Size{box.height_px, box.width_px} == whole) return;
      static_cast<Image&>(image) = cut(image.view(), box);
      return;
    }
    const int top = box.top * part.scale;
    const int left = box.left * part.scale;
    const Box blocks{top, left, std::min(box.height_px * part.scale, whole.height_px - top),
                     std::min(box.width_px * part.scale, whole.width_px - left)};
    static_cast<Image&>(image) = box_average(part_of(image.view(), blocks), part.scale);
  };
  auto image = [&]() -> Expected<DecodedImage, DecodeError> {
    if (format == "jpeg") {
      return decode_jpeg(encoded, settings, hooks, std::move(buffer), choose);
    }
    return decode_other(format, encoded, settings, hooks, choose);
  }();
  if (!image) return image;
  const bool is_whole =
      image->height_px == image->whole_height_px && image->width_px == image->whole_width_px;
  if (is_whole) from_whole(*image);
  return image;
}

// The format of a decodable image, by its first bytes.
Expected<std::string_view, DecodeError> format_of(BytesView encoded) {
  if (encoded.empty()) return truncated("has no bytes");
  const std::string_view format = sniff(encoded);
  if (format == "unknown") {
    const KnownBytes* known =
        known_bytes(encoded.first(std::min<std::size_t>(encoded.size(), 256)));
    if (known == nullptr) return unsupported("is no image by its first bytes");
    return unsupported("is " + std::string(known->what) + "; " + std::string(known->advice));
  }
  for (const Unread& unread : kUnread) {
    if (unread.format != format) continue;
    return unsupported("is " + std::string(unread.what) + ", which winnow does not read; " +
                       std::string(unread.advice));
  }
  return format;
}

Expected<std::string_view, DecodeError> readable_format(BytesView encoded) {
  if (encoded.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return too_large("has more than 2 GiB of encoded bytes");
  }
  return format_of(encoded);
}

// Chooses the part of a stored picture, given its orientation.
using ChooseTurned = std::function<StoredPart(Size stored, int orientation)>;

Expected<DecodedImage, DecodeError> decode_part(BytesView encoded, const DecodeSettings& settings,
                                                const DecodeHooks& hooks, Image buffer,
                                                const ChooseTurned& choose) {
  const auto format = readable_format(encoded);
  if (!format) return format.error();
  const int tag = exif_orientation(*format, encoded);
  const int orientation = settings.orientation == Orientation::kApply ? tag : 1;
  auto image =
      decode_stored(*format, encoded, settings, hooks, std::move(buffer), [&](Size stored) {
        StoredPart part = choose(stored, orientation);
        part.is_turned = orientation > 1;
        return part;
      });
  if (!image) return image;
  image->orientation = tag;
  if (orientation > 1) turn(*image, orientation);
  if (orientation > 1) turn(image->alpha, orientation);
  if (swaps_sides(orientation)) std::swap(image->whole_height_px, image->whole_width_px);
  return image;
}

void check_box(const Box& box, Size whole) {
  const bool is_inside = box.top >= 0 && box.left >= 0 && box.height_px > 0 && box.width_px > 0 &&
                         box.height_px <= whole.height_px - box.top &&
                         box.width_px <= whole.width_px - box.left;
  if (is_inside) return;
  throw Error("a box of " + std::to_string(box.width_px) + " x " + std::to_string(box.height_px) +
              " pixels at column " + std::to_string(box.left) + " and row " +
              std::to_string(box.top) + " was asked of a picture of " +
              std::to_string(whole.width_px) + " x " + std::to_string(whole.height_px) +
              "; ask for one that lies in it");
}

// Thrown before allocation if decoding would take too much.
struct TooMuchMemory {
  std::uint64_t bytes;
};

// A picture that is held completely, already turned.
class WholeRows final : public PictureRows {
 public:
  explicit WholeRows(DecodedImage image) : image_(std::move(image)) {}

  Size size() const noexcept override { return {image_.height_px, image_.width_px}; }
  int channels() const noexcept override { return image_.channels; }
  int orientation() const noexcept override { return 1; }
  std::optional<DecodeError> read(int rows, std::uint8_t* to) override {
    const std::size_t begin = at_;
    skip(rows);
    std::copy_n(image_.pixels.data() + begin, at_ - begin, to);
    return std::nullopt;
  }
  std::optional<DecodeError> skip(int rows) override {
    at_ += static_cast<std::size_t>(rows) * static_cast<std::size_t>(image_.width_px) *
           static_cast<std::size_t>(image_.channels);
    return std::nullopt;
  }
  int rows_to_reach() const noexcept override { return image_.height_px; }
  std::string warning() const override { return image_.warning; }

 private:
  DecodedImage image_;
  std::size_t at_ = 0;
};

Expected<std::unique_ptr<PictureRows>, DecodeError> open_whole(const EncodedBytes& encoded,
                                                               const DecodeSettings& settings,
                                                               const RowLimits& limits) {
  const auto refused = [](std::uint64_t bytes) {
    return too_large(
        "cannot be decoded in parts (like all progressive JPEGs, PNGs and WebPs), and takes " +
        std::to_string((bytes + (1u << 20) - 1) >> 20) +
        " MiB at once, more than --memory-limit allows");
  };
  const std::uint64_t held = encoded.in_memory() ? 0 : encoded.size();
  if (held > limits.memory_bytes) return refused(held);
  Bytes bytes;
  if (!encoded.in_memory()) {
    bytes.resize(encoded.size());
    encoded.read_at(0, bytes);
  }
  const BeforeAllocation before = [&](std::uint64_t more) {
    if (held + more > limits.memory_bytes) throw TooMuchMemory{held + more};
  };
  try {
    auto image = decode(encoded.in_memory().value_or(BytesView(bytes)), settings,
                        {before, limits.stop, false});
    if (!image) return image.error();
    return rows_of(*std::move(image));
  } catch (const TooMuchMemory& much) {
    return refused(much.bytes);
  }
}

// The beginning of a JPEG before its pixels, which has the orientation.
Bytes before_pixels(const EncodedBytes& encoded) {
  Bytes begin;
  for (std::uint64_t bytes = 1u << 16; begin.size() < encoded.size(); bytes *= 4) {
    begin.resize(std::min(bytes, encoded.size()));
    encoded.read_at(0, begin);
    if (count_scans(begin, 1) > 0) break;
  }
  return begin;
}

// For one axis of a picture at 1/scale: the pixels that a range of full pixels touches, and where
// the range begins in them. In a turned picture, the first pixel may represent fewer full ones.
struct Touched {
  int first;
  int count;
  double begin;
};
Touched touched(int first, int count, int side, int scale, bool is_mirrored) noexcept {
  const int missing = is_mirrored ? (scale - side % scale) % scale : 0;
  const int begin = first + missing;
  const int at = begin / scale;
  return {at, (begin + count + scale - 1) / scale - at,
          static_cast<double>(begin - at * scale) / scale};
}

// Null: it can only be decoded as a whole.
Expected<std::unique_ptr<PictureRows>, DecodeError> open_in_parts(const EncodedBytes& encoded,
                                                                  const DecodeSettings& settings,
                                                                  const RowLimits& limits) {
  Bytes begin(std::min<std::uint64_t>(encoded.size(), 256));
  encoded.read_at(0, begin);
  const auto format = format_of(begin);
  if (!format) return format.error();
  if (*format == "tiff") {
    constexpr std::uint64_t kMostBlocks = 1u << 22;
    const auto header = tiff_header(encoded, kMostBlocks);
    if (!header) return header.error();
    if (auto refused = refuse_pixels(*header, settings)) return *std::move(refused);
    return open_tiff_rows(encoded, *header, settings.matte, limits);
  }
  if (*format != "jpeg") return std::unique_ptr<PictureRows>();
  const bool applies = settings.orientation == Orientation::kApply;
  const int orientation = applies ? exif_orientation(*format, before_pixels(encoded)) : 1;
  return open_jpeg_rows(encoded, settings, orientation, limits);
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
                                           const DecodeHooks& hooks, Image buffer, int scale) {
  return decode_part(encoded, settings, hooks, std::move(buffer), [scale](Size stored, int) {
    const Size size = scaled_size(stored, scale);
    return StoredPart{scale, {0, 0, size.height_px, size.width_px}};
  });
}

Expected<DecodedCrop, DecodeError> decode_crop(BytesView encoded, const DecodeSettings& settings,
                                               const ChooseCrop& choose, const DecodeHooks& hooks,
                                               Image buffer) {
  int scale = 1;
  Region region;
  auto image =
      decode_part(encoded, settings, hooks, std::move(buffer), [&](Size stored, int orientation) {
        const Size whole =
            swaps_sides(orientation) ? Size{stored.width_px, stored.height_px} : stored;
        const Crop crop = choose(whole);
        check_box(crop.box, whole);
        scale = crop.scale;
        const Touched rows = touched(crop.box.top, crop.box.height_px, whole.height_px, scale,
                                     mirrors_rows(orientation));
        const Touched columns = touched(crop.box.left, crop.box.width_px, whole.width_px, scale,
                                        mirrors_columns(orientation));
        region = {rows.begin, columns.begin, static_cast<double>(crop.box.height_px) / scale,
                  static_cast<double>(crop.box.width_px) / scale};
        const Size size = scaled_size(stored, scale);
        return StoredPart{scale, before_turn({rows.first, columns.first, rows.count, columns.count},
                                             orientation, size.height_px, size.width_px)};
      });
  if (!image) return image.error();
  return DecodedCrop{*std::move(image), scale, region};
}

Expected<std::unique_ptr<PictureRows>, DecodeError> open_rows(const EncodedBytes& encoded,
                                                              const DecodeSettings& settings,
                                                              const RowLimits& limits) {
  auto rows = open_in_parts(encoded, settings, limits);
  if (!rows || *rows) return rows;
  return open_whole(encoded, settings, limits);
}

std::unique_ptr<PictureRows> rows_of(DecodedImage image) {
  return std::make_unique<WholeRows>(std::move(image));
}

std::optional<PartsShape> shape_in_parts(const EncodedBytes& encoded,
                                         const DecodeSettings& settings, const RowLimits& limits) {
  const auto rows = open_in_parts(encoded, settings, limits);
  if (!rows || !*rows) return std::nullopt;
  return PartsShape{(*rows)->size(), (*rows)->orientation(), (*rows)->rows_to_reach()};
}

}  // namespace winnow::pipeline

#include "pipeline/decode/orientation.h"

#include <algorithm>
#include <utility>

#include "pipeline/decode/fields_internal.h"

namespace winnow::pipeline {
namespace {

using namespace std::string_view_literals;

constexpr int kUpright = 1;

// EXIF 2.32 section 4.6: a TIFF directory, of which only the first entry of its kind counts.
int orientation_of(BytesView exif) {
  if (as_text(exif).starts_with("Exif\0\0"sv)) exif = exif.subspan(6);
  const std::string_view head = as_text(exif).substr(0, 4);
  if (head != "II\x2A\0"sv && head != "MM\0\x2A"sv) return kUpright;
  const Fields f(exif, head[0] == 'M');
  const std::uint64_t directory = f.u32(4);
  for (std::uint64_t i = 0; i < f.u16(directory); ++i) {
    const std::uint64_t at = directory + 2 + 12 * i;
    if (!f.has(at, 12)) break;
    constexpr std::uint32_t kTag = 0x0112;
    constexpr std::uint32_t kShort = 3;
    if (f.u16(at) != kTag || f.u16(at + 2) != kShort || f.u32(at + 4) != 1) continue;
    const std::uint32_t value = f.u16(at + 8);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : kUpright;
  }
  return kUpright;
}

BytesView exif_of_jpeg(BytesView encoded) {
  const Fields f(encoded, true);
  for (std::uint64_t at = 2; f.has(at, 4);) {
    if (f.u8(at) != 0xFF) break;
    const std::uint32_t marker = f.u8(at + 1);
    if (marker == 0xFF) {  // filling
      ++at;
      continue;
    }
    if (marker == 0xDA || marker == 0xD9) break;
    const std::uint64_t length = f.u16(at + 2);
    if (length < 2 || !f.has(at + 2, length)) break;
    if (marker == 0xE1 && f.text(at + 4, 5) == "Exif\0"sv) {
      return encoded.subspan(at + 4, length - 2);
    }
    at += 2 + length;
  }
  return {};
}

BytesView exif_of_png(BytesView encoded) {
  const Fields f(encoded, true);
  for (std::uint64_t at = 8; f.has(at, 12);) {
    const std::uint64_t length = f.u32(at);
    if (!f.has(at + 12, length)) break;
    if (f.text(at + 4, 4) == "eXIf") return encoded.subspan(at + 8, length);
    at += 12 + length;
  }
  return {};
}

BytesView exif_of_webp(BytesView encoded) {
  const Fields f(encoded, false);
  constexpr std::uint32_t kHasExif = 8;
  if (f.text(12, 4) != "VP8X" || (f.u8(20) & kHasExif) == 0) return {};
  for (std::uint64_t at = 12; f.has(at, 8);) {
    const std::uint64_t length = f.u32(at + 4);
    if (!f.has(at + 8, length)) break;
    if (f.text(at, 4) == "EXIF") return encoded.subspan(at + 8, length);
    at += 8 + length + length % 2;
  }
  return {};
}

bool is_from_below(int orientation) noexcept {
  return orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
}
bool is_from_right(int orientation) noexcept {
  return orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
}

template <int kChannels>
void copy_turned(const Image& in, int orientation, Image& out) {
  const bool transposed = orientation >= 5;
  const bool from_below = is_from_below(orientation);
  const bool from_right = is_from_right(orientation);
  const std::ptrdiff_t column_step = kChannels;
  const std::ptrdiff_t row_step = std::ptrdiff_t{in.width_px} * kChannels;
  // Where the output's first pixel comes from, and what a step along its axes means there.
  const std::uint8_t* first = in.pixels.data() + (from_below ? (in.height_px - 1) * row_step : 0) +
                              (from_right ? (in.width_px - 1) * column_step : 0);
  const std::ptrdiff_t down = from_below ? -row_step : row_step;
  const std::ptrdiff_t right = from_right ? -column_step : column_step;
  const std::ptrdiff_t step_x = transposed ? down : right;
  const std::ptrdiff_t step_y = transposed ? right : down;
  constexpr int kTile = 32;  // so that lines stay in the cache while they are turned
  for (int top = 0; top < out.height_px; top += kTile) {
    for (int left = 0; left < out.width_px; left += kTile) {
      const int bottom = std::min(top + kTile, out.height_px);
      const int end = std::min(left + kTile, out.width_px);
      for (int y = top; y < bottom; ++y) {
        const std::uint8_t* from = first + y * step_y + left * step_x;
        std::uint8_t* to =
            out.pixels.data() + (std::ptrdiff_t{y} * out.width_px + left) * kChannels;
        for (int x = left; x < end; ++x, from += step_x) {
          for (int c = 0; c < kChannels; ++c) *to++ = from[c];
        }
      }
    }
  }
}

}  // namespace

int exif_orientation(std::string_view format, BytesView encoded) noexcept {
  if (format == "jpeg") return orientation_of(exif_of_jpeg(encoded));
  if (format == "png") return orientation_of(exif_of_png(encoded));
  if (format == "webp") return orientation_of(exif_of_webp(encoded));
  return kUpright;
}

bool mirrors_rows(int orientation) noexcept {
  return swaps_sides(orientation) ? is_from_right(orientation) : is_from_below(orientation);
}

bool mirrors_columns(int orientation) noexcept {
  return swaps_sides(orientation) ? is_from_below(orientation) : is_from_right(orientation);
}

Box before_turn(const Box& box, int orientation, int stored_height_px,
                int stored_width_px) noexcept {
  Box stored = box;
  if (swaps_sides(orientation)) stored = {box.left, box.top, box.width_px, box.height_px};
  if (is_from_below(orientation)) stored.top = stored_height_px - stored.top - stored.height_px;
  if (is_from_right(orientation)) stored.left = stored_width_px - stored.left - stored.width_px;
  return stored;
}

void turn(Image& image, int orientation) {
  if (orientation <= kUpright || orientation > 8 || image.pixels.empty()) return;
  const bool transposed = orientation >= 5;
  Image out(transposed ? image.width_px : image.height_px,
            transposed ? image.height_px : image.width_px, image.channels);
  if (image.channels == 1) {
    copy_turned<1>(image, orientation, out);
  } else {
    copy_turned<3>(image, orientation, out);
  }
  image = std::move(out);
}

}  // namespace winnow::pipeline

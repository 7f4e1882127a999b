// Images, by format: headers, orientation, pixels, parts of them.
#include "pipeline/decode/decode.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "common/error.h"
#include "pipeline/decode/header.h"
#include "pipeline/decode/orientation.h"
#include "tests/fuzz/coverage/harness.h"
#include "tests/fuzz/coverage/harness_list.h"

namespace winnow::fuzz {
namespace {

using namespace pipeline;

constexpr std::uint64_t kMostPixels = 1 << 17;

void check(const Expected<DecodedImage, DecodeError>& image) {
  if (!image) {
    expect(!image.error().detail.empty(), "what is refused has a reason");
    throw FormatError(image.error().detail);
  }
  const auto pixels =
      static_cast<std::uint64_t>(image->height_px) * static_cast<std::uint64_t>(image->width_px);
  expect(image->height_px > 0 && image->width_px > 0, "an image has pixels");
  expect(image->pixels.size() == pixels * static_cast<std::uint64_t>(image->channels),
         "pixels are those of the size");
  expect(static_cast<std::uint64_t>(image->whole_height_px) *
                 static_cast<std::uint64_t>(image->whole_width_px) <=
             kMostPixels,
         "an image has no more pixels than it may");
}

// As it is, and with all that settings can ask.
int decode_as(std::string_view format, BytesView input) {
  if (sniff(input) != format) throw FormatError("another format");
  const DecodeSettings all{.max_pixels = kMostPixels,
                           .max_scans = 20,
                           .orientation = Orientation::kApply,
                           .matte = Matte{1, 2, 3}};
  (void)decode(input, all, {}, {}, 4);
  check(decode(input, {.max_pixels = kMostPixels}));
  return 0;
}

}  // namespace

int fuzz_jpeg(BytesView input) { return decode_as("jpeg", input); }
int fuzz_png(BytesView input) { return decode_as("png", input); }
int fuzz_tiff(BytesView input) { return decode_as("tiff", input); }
int fuzz_webp(BytesView input) { return decode_as("webp", input); }
int fuzz_bmp(BytesView input) { return decode_as("bmp", input); }
int fuzz_pnm(BytesView input) { return decode_as("pnm", input); }

int fuzz_crop(BytesView input) {
  const ChooseCrop inner = [](Size whole) {
    const int top = whole.height_px / 3;
    const int left = whole.width_px / 2;
    return Crop{{.top = top,
                 .left = left,
                 .height_px = std::max(1, (whole.height_px - top) / 2),
                 .width_px = std::max(1, (whole.width_px - left) / 2)},
                1};
  };
  (void)decode_crop(input, {.max_pixels = kMostPixels, .orientation = Orientation::kApply}, inner);
  return 0;
}

int fuzz_header(BytesView input) {
  const std::string_view format = sniff(input);
  const auto is_one_of = [&](std::initializer_list<std::string_view> formats) {
    return std::ranges::find(formats, format) != formats.end();
  };
  if (is_one_of({"jpeg", "png", "webp"})) {
    const int orientation = exif_orientation(format, input);
    expect(orientation >= 1 && orientation <= 8, "an orientation is 1 to 8");
  }
  if (!is_one_of({"png", "bmp", "webp", "tiff", "pnm"})) throw FormatError("no such header");
  const auto header = read_header(format, input);
  if (!header) throw FormatError(header.error().detail);
  return 0;
}

}  // namespace winnow::fuzz

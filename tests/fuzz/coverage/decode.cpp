// Images by format: headers, orientation, pixels, and parts of images.
#include "pipeline/decode/decode.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "pipeline/decode/header.h"
#include "pipeline/decode/orientation.h"
#include "pipeline/decode/rows.h"
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

// Decodes with the default settings and with every other setting.
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

// Compares reading row by row, with some rows skipped, with decoding the whole.
int read_rows_as(std::string_view format, BytesView input) {
  if (sniff(input) != format) throw FormatError("another format");
  const DecodeSettings settings{.max_pixels = kMostPixels};
  auto rows = open_rows(EncodedBytes(input), settings, {.memory_bytes = std::uint64_t{8} << 20});
  if (!rows) throw FormatError(rows.error().detail);
  const Size size = (*rows)->size();
  expect(size.height_px > 0 && size.width_px > 0, "a picture has rows");
  expect((*rows)->rows_to_reach() > 0, "rows are reached by some");
  const std::size_t row_bytes =
      static_cast<std::size_t>(size.width_px) * static_cast<std::size_t>((*rows)->channels());
  Bytes pixels(row_bytes * static_cast<std::size_t>(size.height_px));
  std::vector<int> read;
  for (int row = 0, some = 1; row < size.height_px; row += some, some = some * 5 % 23 + 1) {
    some = std::min(some, size.height_px - row);
    auto* to =
        reinterpret_cast<std::uint8_t*>(pixels.data()) + static_cast<std::size_t>(row) * row_bytes;
    const bool skips = input.size() % 2 == 1 && some % 3 == 0;
    auto error = skips ? (*rows)->skip(some) : (*rows)->read(some, to);
    if (error) throw FormatError(error->detail);
    for (int i = row; !skips && i < row + some; ++i) read.push_back(i);
  }
  const auto whole = decode(input, settings);
  if ((*rows)->orientation() != 1 || !whole) return 0;
  expect(whole->pixels.size() == pixels.size(), "rows have the size of the whole");
  for (const int row : read) {
    const std::size_t at = static_cast<std::size_t>(row) * row_bytes;
    expect(std::memcmp(pixels.data() + at, whole->pixels.data() + at, row_bytes) == 0,
           "rows have the pixels of the whole");
  }
  return 0;
}

}  // namespace

int fuzz_jpeg_rows(BytesView input) { return read_rows_as("jpeg", input); }
int fuzz_tiff_rows(BytesView input) { return read_rows_as("tiff", input); }

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

// TIFFs of many kinds, written by libtiff. They are compared with OpenCV, which read them in
// earlier versions.
#include <gtest/gtest.h>
#include <tiffio.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "common/error.h"
#include "pipeline/decode/decode.h"
#include "pipeline/decode/orientation.h"
#include "tests/common/opencv_codecs.h"
#include "tests/common/tiff_maker.h"
#include "tests/pipeline/jpeg_maker.h"
#include "tests/pipeline/tiff_writer.h"

namespace winnow::pipeline::tiff_test {

using Kind = DecodeError::Kind;
using Layout = test::TiffLayout;
using Samples = test::TiffSamples;
using test::write_tiff;

// OpenCV's result as pixels of 8 bits without alpha.
template <class Sample>
Image from_mat(const cv::Mat& mat) {
  const int channels = mat.channels();
  Image out(mat.rows, mat.cols, channels < 3 ? 1 : 3);
  constexpr int kShift = 8 * (sizeof(Sample) - 1);
  auto* to = out.pixels.data();
  for (int y = 0; y < mat.rows; ++y) {
    const auto* from = mat.ptr<Sample>(y);
    for (int x = 0; x < mat.cols; ++x, from += channels) {
      for (int c = 0; c < out.channels; ++c) {
        *to++ = static_cast<std::uint8_t>(from[channels < 3 ? 0 : 2 - c] >> kShift);
      }
    }
  }
  return out;
}

std::optional<Image> by_opencv(std::string bytes) {
  const cv::Mat encoded(1, static_cast<int>(bytes.size()), CV_8UC1, bytes.data());
  try {
    const cv::Mat mat =
        opencv_decode(encoded, cv::IMREAD_UNCHANGED | cv::IMREAD_IGNORE_ORIENTATION);
    if (mat.depth() == CV_8U && !mat.empty()) return from_mat<std::uint8_t>(mat);
    if (mat.depth() == CV_16U) return from_mat<std::uint16_t>(mat);
  } catch (const cv::Exception&) {
  }
  return std::nullopt;
}

std::string text_of(const Samples& s, const Layout& l) {
  const auto n = [](auto value) { return " " + std::to_string(value); };
  return "photometric" + n(s.photometric) + " bits" + n(s.bits) + " samples" + n(s.count) +
         " planes" + n(s.planes) + " compression" + n(s.compression) + " predictor" +
         n(s.predictor) + " extra" + n(s.extra) + " subsampling" + n(s.subsampling[0]) +
         n(s.subsampling[1]) + " size" + n(l.width) + n(l.height) + " strips" + n(l.strip_rows) +
         " tiles" + n(l.tile_width) + n(l.tile_height) + " big" + n(l.big_endian) + " orientation" +
         n(l.orientation);
}

// Expects OpenCV's pixels. Returns whether OpenCV reads the file.
bool expect_as_opencv(const Samples& s, const Layout& layout) {
  Samples merged = s;
  if (s.extra == EXTRASAMPLE_UNASSALPHA) merged.extra = EXTRASAMPLE_ASSOCALPHA;
  const auto expected = by_opencv(write_tiff(merged, layout));
  const std::string bytes = write_tiff(s, layout);
  const auto image = decode(as_bytes(bytes), {});
  EXPECT_EQ(static_cast<bool>(image), expected.has_value())
      << text_of(s, layout) << ": " << (image ? "" : image.error().detail);
  if (!image || !expected) return false;
  EXPECT_EQ(image->height_px, expected->height_px) << text_of(s, layout);
  EXPECT_EQ(image->channels, expected->channels) << text_of(s, layout);
  EXPECT_TRUE(image->pixels == expected->pixels) << text_of(s, layout);
  return true;
}

Bytes make_jpeg_of(int width, int height) {
  const std::vector<std::uint8_t> pixels(static_cast<std::size_t>(width * height * 3), 90);
  return test::make_jpeg(width, height, 3, pixels.data(), {});
}

std::vector<Layout> layouts() {
  return {{},
          {.strip_rows = 1},
          {.strip_rows = 16, .big_endian = true},
          {.tile_width = 16, .tile_height = 16},
          {.tile_width = 64, .tile_height = 32, .big_endian = true},
          {.width = 1, .height = 1},
          {.width = 16, .height = 300, .strip_rows = 288},
          {.strip_rows = 16, .is_big = true},
          {.tile_width = 16, .tile_height = 32, .big_endian = true, .is_big = true}};
}

// Large enough to be read a few rows at a time.
std::vector<Layout> large_layouts() {
  return {{.width = 601, .height = 449},
          {.width = 600, .height = 500, .strip_rows = 448, .big_endian = true},
          {.width = 650, .height = 440, .tile_width = 608, .tile_height = 448}};
}

// Whether libtiff reads whole blocks correctly, as OpenCV uses it. It fails for:
// - tiles with several samples of which one is shown, or with squares of 4 x 4 pixels: beyond the
//   picture;
// - uncompressed tiles whose size is no multiple of 1024 bytes;
// - strips with an odd number of such squares: their end.
// JPEGs have whole blocks of rows.
bool are_blocks_sound(const Samples& s, const Layout& layout) {
  const bool is_of_squares = s.subsampling == std::array{4, 4};
  if (layout.tile_width == 0) {
    if (s.compression == COMPRESSION_JPEG && layout.strip_rows == 1) return false;
    return !is_of_squares || (layout.width + 3) / 4 % 2 == 0;
  }
  const bool is_one =
      s.photometric <= PHOTOMETRIC_MINISBLACK || s.photometric == PHOTOMETRIC_PALETTE;
  const bool is_cut = layout.width % layout.tile_width != 0;
  if (is_cut && ((is_one && s.count > 1) || is_of_squares)) return false;
  const int square = s.subsampling[0] * s.subsampling[1];
  std::uint32_t bytes = layout.tile_width * layout.tile_height;  // or a multiple
  if (square > 0)
    bytes = bytes / static_cast<std::uint32_t>(square) * (static_cast<std::uint32_t>(square) + 2);
  return s.compression != COMPRESSION_NONE || bytes % 1024 == 0;
}

// Expects the same pixels for everything that OpenCV reads.
void expect_all(const Samples& s, bool large = true) {
  for (const Layout& layout : layouts()) {
    if (!are_blocks_sound(s, layout)) continue;
    EXPECT_TRUE(expect_as_opencv(s, layout)) << text_of(s, layout);
  }
  if (!large) return;
  for (const Layout& layout : large_layouts()) {
    if (!are_blocks_sound(s, layout)) continue;
    EXPECT_TRUE(expect_as_opencv(s, layout)) << text_of(s, layout);
  }
}

TEST(Tiff, OfEveryCompressionIsAsOpencvHasIt) {
  for (const int compression :
       {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE,
        COMPRESSION_PACKBITS, COMPRESSION_LZMA, COMPRESSION_ZSTD, COMPRESSION_JPEG}) {
    expect_all({.compression = compression});
    expect_all({.photometric = PHOTOMETRIC_MINISBLACK, .count = 1, .compression = compression});
  }
  for (const int compression :
       {COMPRESSION_CCITTRLE, COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4}) {
    for (const int photometric : {PHOTOMETRIC_MINISWHITE, PHOTOMETRIC_MINISBLACK}) {
      expect_all({.photometric = photometric, .bits = 1, .count = 1, .compression = compression});
    }
  }
}

TEST(Tiff, OfWebpIsAsOpencvHasIt) {
  expect_all({.compression = COMPRESSION_WEBP});
  expect_all({.count = 4, .compression = COMPRESSION_WEBP, .extra = EXTRASAMPLE_ASSOCALPHA});
}

TEST(Tiff, OfPredictedSamplesIsAsOpencvHasIt) {
  for (const int compression : {COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_ZSTD}) {
    for (const int bits : {8, 16}) {
      for (const int count : {1, 3}) {
        expect_all({.photometric = count == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB,
                    .bits = bits,
                    .count = count,
                    .compression = compression,
                    .predictor = 2});
      }
    }
  }
}

// All numbers of samples, whether OpenCV reads them or not.
TEST(Tiff, OfEveryColourIsAsOpencvHasIt) {
  int read = 0;
  for (const int planes : {PLANARCONFIG_CONTIG, PLANARCONFIG_SEPARATE}) {
    for (const int photometric : {PHOTOMETRIC_MINISWHITE, PHOTOMETRIC_MINISBLACK, PHOTOMETRIC_RGB,
                                  PHOTOMETRIC_PALETTE, PHOTOMETRIC_SEPARATED, PHOTOMETRIC_CIELAB}) {
      const int colours = photometric == PHOTOMETRIC_SEPARATED                                  ? 4
                          : photometric == PHOTOMETRIC_RGB || photometric == PHOTOMETRIC_CIELAB ? 3
                                                                                                : 1;
      for (const int bits : {1, 2, 4, 8, 10, 12, 14, 16}) {
        for (int count = 1; count <= std::min(colours + 1, 4); ++count) {
          // For these, OpenCV shows uninitialised memory.
          const bool is_deep = bits > 8 && photometric <= PHOTOMETRIC_RGB && count > 2;
          if (planes == PLANARCONFIG_SEPARATE && is_deep) continue;
          const Samples s{.photometric = photometric,
                          .bits = bits,
                          .count = count,
                          .planes = planes,
                          .extra = count > colours ? EXTRASAMPLE_ASSOCALPHA : -1};
          for (const Layout& layout : layouts()) {
            if (photometric == PHOTOMETRIC_PALETTE && bits == 4) {
              // OpenCV 4.10 reads them, 4.6 does not.
              EXPECT_FALSE(decode(as_bytes(write_tiff(s, layout)), {})) << text_of(s, layout);
              continue;
            }
            if (are_blocks_sound(s, layout)) read += expect_as_opencv(s, layout) ? 1 : 0;
          }
        }
      }
    }
  }
  EXPECT_GE(read, 20 * 5);
}

TEST(Tiff, OfLargePlanesIsAsOpencvHasIt) {
  for (const int compression : {COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_NONE}) {
    for (const int count : {3, 4}) {
      expect_all({.count = count,
                  .planes = PLANARCONFIG_SEPARATE,
                  .compression = compression,
                  .extra = count == 4 ? EXTRASAMPLE_ASSOCALPHA : -1});
    }
  }
}

TEST(Tiff, OfYcbcrIsAsOpencvHasIt) {
  for (const auto& subsampling : {std::array{1, 1}, {2, 1}, {2, 2}, {4, 1}, {4, 2}, {4, 4}}) {
    Samples s{.photometric = PHOTOMETRIC_YCBCR, .subsampling = subsampling};
    expect_all(s);
    s.compression = COMPRESSION_NONE;
    expect_all(s);
    s.compression = COMPRESSION_JPEG;
    s.subsampling = {0, 0};  // whole pixels, as they are passed in
    expect_all(s, false);
  }
  expect_all(
      {.photometric = PHOTOMETRIC_YCBCR, .planes = PLANARCONFIG_SEPARATE, .subsampling = {1, 1}},
      false);
}

TEST(Tiff, OfEveryOrientationIsAsOpencvHasIt) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    for (const int bits : {8, 16}) {
      for (const Layout& layout : layouts()) {
        Layout turned = layout;
        turned.orientation = orientation;
        // OpenCV mirrors each tile of 8 bits separately.
        const bool is_mirrored = orientation == 2 || orientation == 3 || orientation >= 6;
        if (layout.tile_width > 0 && bits == 8 && is_mirrored) continue;
        EXPECT_TRUE(expect_as_opencv({.bits = bits}, turned));
      }
    }
  }
}

Image pixels_of(const Samples& s, const Layout& layout, const DecodeSettings& settings = {}) {
  const std::string bytes = write_tiff(s, layout);
  auto image = decode(as_bytes(bytes), settings);
  EXPECT_TRUE(image) << text_of(s, layout) << ": " << (image ? "" : image.error().detail);
  return image ? Image(*std::move(image)) : Image();
}

// OpenCV got these wrong, because it uses libtiff's whole tiles.
TEST(Tiff, OfTilesHasThePixelsOfStrips) {
  const Layout tiles{.tile_width = 16, .tile_height = 16};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    Layout turned = tiles;
    turned.orientation = orientation;
    Image expected = pixels_of({}, {});
    turn(expected, orientation);
    EXPECT_EQ(pixels_of({}, turned), expected) << orientation;
  }
  for (const int compression : {COMPRESSION_LZW, COMPRESSION_NONE}) {
    for (const int photometric : {PHOTOMETRIC_MINISBLACK, PHOTOMETRIC_PALETTE}) {
      const Samples s{.photometric = photometric,
                      .count = 2,
                      .compression = compression,
                      .extra = EXTRASAMPLE_UNSPECIFIED};
      EXPECT_EQ(pixels_of(s, tiles), pixels_of(s, {})) << photometric;
    }
  }
}

// OpenCV read only the first plane.
TEST(Tiff, OfPlanesOf16BitsHasThePixelsOfOneOfPixels) {
  for (const int count : {3, 4}) {
    Samples s{.bits = 16, .count = count, .extra = count == 4 ? EXTRASAMPLE_ASSOCALPHA : -1};
    const Image expected = pixels_of(s, {});
    s.planes = PLANARCONFIG_SEPARATE;
    for (const Layout& layout : {Layout{},
                                 {.strip_rows = 8},
                                 {.tile_width = 16, .tile_height = 16},
                                 {.big_endian = true}}) {
      EXPECT_EQ(pixels_of(s, layout), expected) << text_of(s, layout);
    }
  }
}

constexpr Matte kMatte{20, 130, 240};

// Ten pixels in a row. The kind of the last sample is given by `kind`, a value of this `type`.
// Samples of 16 bits have other low bytes.
std::string tiff_with_alpha(std::uint32_t bits, std::uint64_t kind, std::uint32_t type) {
  constexpr std::array<std::uint8_t, 40> kValues{
      0,   0,   0,   0, 255, 128, 1, 0, 10,  20,  30,  255, 200, 100, 50, 128, 64, 32, 16,  64,
      255, 255, 255, 1, 3,   2,   1, 3, 250, 240, 230, 254, 77,  60,  9,  77,  33, 90, 127, 200};
  std::string samples;
  for (std::size_t i = 0; i < kValues.size(); ++i) {
    if (bits == 16) samples += static_cast<char>(7 * i + kValues[i]);
    samples += static_cast<char>(kValues[i]);
  }
  auto entries = test::tiff_entries(
      {.width = 10, .height = 1, .samples = 4, .bits = bits, .deflated = false}, samples.size());
  for (test::TiffEntry& entry : entries) {
    if (entry.tag == 338) entry = {338, type, {kind}};
  }
  return test::tiff_file(entries, samples);
}

// Pillow 13.0's result for these files by convert("RGBA") and alpha_composite on the matte.
TEST(Tiff, OfAlphaIsLaidUponAMatteAsPillowHasIt) {
  constexpr std::uint32_t kShort = 3;
  constexpr std::uint32_t kLong = 4;
  const std::vector<std::uint8_t> multiplied{20,  130, 240, 20,  130, 240, 10,  20,  30,  138,
                                             165, 169, 79,  129, 196, 21,  130, 240, 23,  130,
                                             238, 249, 240, 230, 91,  151, 176, 37,  117, 178};
  const std::vector<std::uint8_t> straight{20,  130, 240, 20,  130, 240, 10,  20,  30, 110,
                                           115, 145, 31,  105, 184, 21,  130, 240, 20, 128,
                                           237, 249, 240, 230, 37,  109, 170, 30,  99, 151};
  for (const std::uint32_t bits : {8U, 16U}) {
    for (const std::uint32_t type : {kShort, kLong}) {
      for (const std::uint64_t kind : {EXTRASAMPLE_ASSOCALPHA, EXTRASAMPLE_UNASSALPHA}) {
        const std::string bytes = tiff_with_alpha(bits, kind, type);
        const auto image = decode(as_bytes(bytes), {.matte = kMatte});
        ASSERT_TRUE(image) << image.error().detail;
        EXPECT_EQ(image->pixels, kind == EXTRASAMPLE_ASSOCALPHA ? multiplied : straight)
            << bits << ' ' << type;
        const auto kept = decode(as_bytes(bytes), {}, {.keep_alpha = true});
        ASSERT_TRUE(kept);
        EXPECT_EQ(kept->alpha.pixels,
                  (std::vector<std::uint8_t>{0, 0, 255, 128, 64, 1, 3, 254, 77, 200}))
            << bits << ' ' << type;
      }
    }
  }
}

TEST(Tiff, OfAlphaIsLaidUponAMatteAlikeInEveryLayout) {
  for (const int bits : {8, 16}) {
    for (const int extra : {EXTRASAMPLE_ASSOCALPHA, EXTRASAMPLE_UNASSALPHA}) {
      const Samples s{.bits = bits, .count = 4, .extra = extra};
      for (const Layout& layout : layouts()) {
        EXPECT_TRUE(expect_as_opencv(s, layout));
        const Layout one_strip{.width = layout.width, .height = layout.height};
        EXPECT_EQ(pixels_of(s, layout, {.matte = kMatte}),
                  pixels_of(s, one_strip, {.matte = kMatte}))
            << text_of(s, layout);
      }
    }
  }
}

// A single strip or tile for the whole picture still notices a stop.
TEST(Tiff, OfOneBlockAsksWhetherToStopAllAlong) {
  for (const int compression :
       {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_LZMA, COMPRESSION_JPEG}) {
    for (const int planes : {PLANARCONFIG_CONTIG, PLANARCONFIG_SEPARATE}) {
      for (const Layout& layout :
           {Layout{.width = 600, .height = 600},
            {.width = 600, .height = 600, .tile_width = 608, .tile_height = 608}}) {
        const std::string bytes =
            write_tiff({.planes = planes, .compression = compression}, layout);
        int asked = 0;
        ASSERT_TRUE(decode(as_bytes(bytes), {}, {{}, [&] { return ++asked < 0; }}));
        EXPECT_GE(asked, 1 + 5) << compression;
        const int all = asked;
        asked = 0;
        const auto last = [&] { return ++asked == all; };
        EXPECT_THROW(static_cast<void>(decode(as_bytes(bytes), {}, {{}, last})), StoppedError);
      }
    }
  }
}

std::optional<DecodeError> error_of(const std::string& bytes) {
  const auto image = decode(as_bytes(bytes), {});
  return image ? std::nullopt : std::optional(image.error());
}

Samples samples_for(int compression) {
  if (compression != COMPRESSION_CCITTFAX4) return {.compression = compression};
  return {.photometric = PHOTOMETRIC_MINISBLACK, .bits = 1, .count = 1, .compression = compression};
}

// OpenCV leaves black what it cannot decode.
TEST(Tiff, WhoseDataIsBrokenIsCorruptNotHalfAPicture) {
  for (const Layout& layout : {Layout{.width = 64, .height = 64}, {.width = 600, .height = 600}}) {
    for (const int compression : {COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_LZMA,
                                  COMPRESSION_JPEG, COMPRESSION_CCITTFAX4}) {
      std::string bytes = write_tiff(samples_for(compression), layout);
      ASSERT_FALSE(error_of(bytes));
      const std::size_t middle = bytes.size() / 2;
      std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(middle),
                bytes.begin() + static_cast<std::ptrdiff_t>(middle + middle / 4), '\x80');
      EXPECT_TRUE(by_opencv(bytes)) << compression << ' ' << layout.width;
      const auto error = error_of(bytes);
      ASSERT_TRUE(error) << compression << ' ' << layout.width;
      EXPECT_EQ(error->kind, Kind::kCorrupt);
      EXPECT_TRUE(error->detail.starts_with("libtiff: ")) << error->detail;
    }
  }
}

// A TIFF with a single strip that is a JPEG.
std::string tiff_around(const std::string& jpeg, std::uint32_t width, std::uint32_t height) {
  auto entries = test::tiff_entries({.width = width, .height = height}, jpeg.size());
  for (test::TiffEntry& entry : entries) {
    if (entry.tag == 259) entry.values = {COMPRESSION_JPEG};
    if (entry.tag == 262) entry.values = {PHOTOMETRIC_YCBCR};
  }
  return test::tiff_file(entries, jpeg);
}

TEST(Tiff, OfAJpegOfTooFewRowsOrColumnsIsCorrupt) {
  const std::string jpeg(as_text(make_jpeg_of(64, 32)));
  EXPECT_FALSE(error_of(tiff_around(jpeg, 64, 32)));
  for (const auto& [width, height] : {std::pair(64U, 64U), {128U, 32U}}) {
    const auto error = error_of(tiff_around(jpeg, width, height));
    ASSERT_TRUE(error) << width;
    EXPECT_EQ(error->kind, Kind::kCorrupt);
  }
}

// The second half is missing. libtiff makes it grey, white or black.
TEST(Tiff, WhoseDataIsCutOffIsTruncated) {
  const Samples noise{.photometric = PHOTOMETRIC_YCBCR};
  const auto pixels = test::tiff_samples_of(noise, {0, 0, 64, 64}, 0);
  std::string jpeg(as_text(test::make_jpeg(64, 64, 3, pixels.data(), {})));
  ASSERT_FALSE(error_of(tiff_around(jpeg, 64, 64)));
  jpeg.resize(jpeg.size() * 3 / 4);
  const auto error = error_of(tiff_around(jpeg, 64, 64));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, Kind::kTruncated);
  EXPECT_EQ(error->detail, "libtiff: Premature end of JPEG file");
}

// The only strip of a TIFF that libtiff wrote. The directory follows it.
std::string strip_of(const std::string& bytes) {
  std::uint32_t end = 0;
  std::memcpy(&end, bytes.data() + 4, 4);
  return bytes.substr(8, end - 8);
}

std::string tiff_around_ccitt(int compression, const std::string& data, std::uint32_t width,
                              std::uint32_t height) {
  auto entries =
      test::tiff_entries({.width = width, .height = height, .samples = 1, .bits = 1}, data.size());
  for (test::TiffEntry& entry : entries) {
    if (entry.tag == 259) entry.values = {static_cast<std::uint64_t>(compression)};
  }
  return test::tiff_file(entries, data);
}

// libtiff does not read back what it wrote.
TEST(Tiff, OfCcittsWordsIsUnsupported) {
  Samples s = samples_for(COMPRESSION_CCITTFAX4);
  s.compression = COMPRESSION_CCITTRLEW;
  const auto error = error_of(write_tiff(s, {}));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, Kind::kUnsupported);
}

std::string bytes_of_bits(std::string bits) {
  bits.resize((bits.size() + 7) / 8 * 8, '0');
  std::string bytes;
  for (std::size_t i = 0; i < bits.size(); i += 8) {
    bytes.push_back(static_cast<char>(std::stoi(bits.substr(i, 8), nullptr, 2)));
  }
  return bytes;
}

// libtiff continues at the next row.
TEST(Tiff, OfCcittsWhoseRowsEndEarlyIsTruncated) {
  const std::string end = "000000000001";
  const std::string white = "1101100110101";         // 64 pixels
  const std::string black = "00000011110000110111";  // 64 pixels
  const auto error = [&](const std::string& middle) {
    std::string bits;
    for (const std::string& row : {white + black, middle, white + black}) bits += end + row;
    const std::string data = bytes_of_bits(bits + end);
    return error_of(tiff_around_ccitt(COMPRESSION_CCITTFAX3, data, 128, 3));
  };
  EXPECT_FALSE(error(white + black));
  const auto cut = error(white);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->kind, Kind::kTruncated) << cut->detail;
}

TEST(Tiff, OfCcittsWhoseRowsAreNotThereIsTruncated) {
  for (const std::uint32_t side : {64U, 600U}) {
    const std::string fax =
        strip_of(write_tiff(samples_for(COMPRESSION_CCITTFAX4), {.width = side, .height = side}));
    const auto error = [&](const std::string& data, std::uint32_t height) {
      return error_of(tiff_around_ccitt(COMPRESSION_CCITTFAX4, data, side, height));
    };
    EXPECT_FALSE(error(fax, side));
    EXPECT_FALSE(error(fax, side - 1));
    EXPECT_FALSE(error(fax.substr(0, fax.size() - 2), side));  // complete, but without its end mark
    for (const auto& cut : {error(fax.substr(0, fax.size() / 2), side), error(fax, 2 * side)}) {
      ASSERT_TRUE(cut) << side;
      EXPECT_EQ(cut->kind, Kind::kTruncated) << cut->detail;
    }
  }
}

// A JPEG with a few damaged blocks is treated like one outside a TIFF.
TEST(Tiff, OfAJpegThatLibjpegWarnsAboutHasItsWarning) {
  std::string jpeg(as_text(make_jpeg_of(64, 32)));
  jpeg.insert(jpeg.size() - 2, 100, 'x');  // before its end marker
  const auto expected = decode(as_bytes(jpeg), {});
  const std::string bytes = tiff_around(jpeg, 64, 32);
  const auto image = decode(as_bytes(bytes), {});
  ASSERT_TRUE(expected && image);
  EXPECT_EQ(expected->damage, Damage::kWarning);
  EXPECT_EQ(image->damage, Damage::kWarning);
  EXPECT_EQ(image->warning, expected->warning);
}

// While such a block is decoded, nothing asks whether to stop.
TEST(Tiff, WhoseBlocksAreDecodedAtOnceHasFewPixels) {
  for (const std::uint32_t side : {5792U, 5808U}) {
    auto entries = test::tiff_entries({.width = side, .height = side}, 1);
    for (test::TiffEntry& entry : entries) {
      if (entry.tag == 262) entry.values = {PHOTOMETRIC_YCBCR};
    }
    const auto error = error_of(test::tiff_file(entries, "x"));
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind, side * side > 1U << 25 ? Kind::kUnsupported : Kind::kCorrupt);
  }
}

TEST(Tiff, OfStripsWithoutRowsIsCorrupt) {
  auto entries = test::tiff_entries({}, 1);
  for (test::TiffEntry& entry : entries) {
    if (entry.tag == 278) entry.values = {0};
  }
  const auto error = error_of(test::tiff_file(entries, "x"));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, Kind::kCorrupt);
  EXPECT_EQ(error->detail, "the TIFF's strips have no rows");
}

TEST(Tiff, OfALongSideIsTooLarge) {
  for (const std::uint32_t side : {1U << 20, (1U << 20) + 1}) {
    const auto error = error_of(write_tiff({.photometric = PHOTOMETRIC_MINISBLACK, .count = 1},
                                           {.width = side, .height = 1}));
    EXPECT_EQ(error.has_value(), side > 1U << 20);
    if (error) {
      EXPECT_EQ(error->kind, Kind::kTooLarge);
    }
  }
}

}  // namespace winnow::pipeline::tiff_test

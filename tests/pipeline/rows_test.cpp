// Pictures read row by row, compared with decode() of the whole.
#include "pipeline/decode/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tiffio.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "common/rng.h"
#include "pipeline/decode/encode.h"
#include "pipeline/decode/orientation.h"
#include "tests/common/temporary_folder.h"
#include "tests/pipeline/jpeg_maker.h"
#include "tests/pipeline/tiff_writer.h"

namespace winnow::pipeline::rows_test {

using Kind = DecodeError::Kind;
using test::make_jpeg;
using test::write_tiff;
using ::testing::HasSubstr;

Image noise(int width, int height) {
  CounterRng rng(5, 0, static_cast<std::uint64_t>(width), RandomUse::kTest);
  Image image(height, width, 3);
  for (std::uint8_t& pixel : image.pixels) pixel = static_cast<std::uint8_t>(rng.below(256));
  return image;
}

constexpr std::uint64_t kPlenty = std::uint64_t{1} << 30;

enum class Gaps { kNone, kSome };

// All rows, a few at a time, turned by their orientation. With gaps they are read in two passes;
// each skips the rows of the other.
Expected<Image, DecodeError> by_rows(const EncodedBytes& encoded,
                                     const DecodeSettings& settings = {},
                                     std::uint64_t memory = kPlenty, Gaps gaps = Gaps::kNone) {
  Image image;
  for (int go = 0; go < (gaps == Gaps::kNone ? 1 : 2); ++go) {
    auto rows = open_rows(encoded, settings, {.memory_bytes = memory});
    if (!rows) return rows.error();
    const Size size = (*rows)->size();
    if (go == 0) image = Image(size.height_px, size.width_px, (*rows)->channels());
    const std::size_t step = image.pixels.size() / static_cast<std::size_t>(size.height_px);
    bool reads = go == 0;
    for (int row = 0, some = 1; row < size.height_px; row += some, some = some * 3 % 17 + 1) {
      some = std::min(some, size.height_px - row);
      auto error =
          reads ? (*rows)->read(some, image.pixels.data() + row * step) : (*rows)->skip(some);
      if (error) return *error;
      if (gaps == Gaps::kSome) reads = !reads;
    }
    if (gaps == Gaps::kNone || go == 1) turn(image, (*rows)->orientation());
  }
  return image;
}

class Rows : public ::testing::Test {
 protected:
  // Expects the pixels of decode(), or the same error, from memory and from a file.
  void expect_as_whole(BytesView bytes, const std::string& what,
                       const DecodeSettings& settings = {}) {
    const auto whole = decode(bytes, settings);
    const auto path = folder_ / "picture";
    std::ofstream(path, std::ios::binary) << as_text(bytes);
    for (const auto& [encoded, gaps] : {std::pair{EncodedBytes(bytes), Gaps::kNone},
                                        {EncodedBytes(bytes), Gaps::kSome},
                                        {EncodedBytes(InputFile(path)), Gaps::kNone}}) {
      const auto image = by_rows(encoded, settings, kPlenty, gaps);
      if (gaps == Gaps::kSome && !whole) continue;  // skipped rows need not be decoded
      ASSERT_EQ(static_cast<bool>(image), static_cast<bool>(whole))
          << what << ": " << (image ? whole.error().detail : image.error().detail);
      if (!whole) {
        EXPECT_EQ(image.error().kind, whole.error().kind) << what;
        continue;
      }
      EXPECT_EQ(image->height_px, whole->height_px) << what;
      EXPECT_TRUE(image->pixels == whole->pixels) << what;
    }
  }

  TemporaryFolder folder_;
};

TEST_F(Rows, OfTiffsArePixelsOfTheWhole) {
  const std::vector<test::TiffLayout> layouts{
      {},
      {.strip_rows = 1},
      {.strip_rows = 16, .big_endian = true},
      {.tile_width = 16, .tile_height = 16},
      {.width = 601, .height = 449},
      {.width = 650, .height = 440, .tile_width = 608, .tile_height = 448}};
  for (test::TiffLayout layout : layouts) {
    for (const bool is_big : {false, true}) {
      for (const int orientation : {1, 3, 6, 7}) {
        layout.is_big = is_big;
        layout.orientation = orientation;
        const std::string what = std::to_string(layout.width) + " px, strips " +
                                 std::to_string(layout.strip_rows) + ", tiles " +
                                 std::to_string(layout.tile_width) + (is_big ? ", big" : "") +
                                 ", orientation " + std::to_string(orientation);
        for (const int compression : {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_JPEG}) {
          if (compression == COMPRESSION_JPEG && layout.strip_rows == 1) continue;
          expect_as_whole(as_bytes(write_tiff({.compression = compression}, layout)),
                          what + ", compression " + std::to_string(compression));
        }
        expect_as_whole(as_bytes(write_tiff({.bits = 16}, layout)), what + ", 16 bits");
        expect_as_whole(
            as_bytes(write_tiff({.photometric = PHOTOMETRIC_MINISBLACK, .count = 1}, layout)),
            what + ", gray");
        expect_as_whole(as_bytes(write_tiff({.planes = PLANARCONFIG_SEPARATE}, layout)),
                        what + ", planes");
        expect_as_whole(
            as_bytes(write_tiff({.photometric = PHOTOMETRIC_SEPARATED, .count = 4}, layout)),
            what + ", CMYK");
        DecodeSettings upon_white;
        upon_white.matte = Matte{255, 255, 255};
        expect_as_whole(as_bytes(write_tiff({.count = 4, .extra = EXTRASAMPLE_UNASSALPHA}, layout)),
                        what + ", alpha", upon_white);
      }
    }
  }
}

TEST_F(Rows, OfJpegsArePixelsOfTheWhole) {
  for (const int channels : {1, 3, 4}) {
    for (const auto& [width, height] : {std::pair{1, 1}, {37, 29}, {640, 333}}) {
      CounterRng rng(5, 0, static_cast<std::uint64_t>(width), RandomUse::kTest);
      std::vector<std::uint8_t> pixels(static_cast<std::size_t>(width * height * channels));
      for (std::uint8_t& pixel : pixels) pixel = static_cast<std::uint8_t>(rng.below(256));
      for (const test::JpegOptions& options : {test::JpegOptions{},
                                               {.progressive = true},
                                               {.restart_rows = 2},
                                               {.luma_width = 1},
                                               {.luma_width = 2, .luma_height = 2},
                                               {.arithmetic = true}}) {
        if (channels != 3 && options.luma_width > 0) continue;
        expect_as_whole(make_jpeg(width, height, channels, pixels.data(), options),
                        std::to_string(channels) + " channels, " + std::to_string(width) + " px");
      }
    }
  }
}

TEST_F(Rows, OfTurnedJpegsAreTurnedWhereThatIsAsked) {
  const Image image = noise(64, 40);
  Bytes jpeg = make_jpeg(64, 40, 3, image.pixels.data());
  const unsigned char exif[] = {0xFF, 0xE1, 0, 34, 'E', 'x', 'i', 'f', 0, 0,  'M', 'M',
                                0,    42,   0, 0,  0,   8,   0,   1,   1, 18, 0,   3,
                                0,    0,    0, 1,  0,   6,   0,   0,   0, 0,  0,   0};
  const auto* begin = reinterpret_cast<const std::byte*>(exif);
  jpeg.insert(jpeg.begin() + 2, begin, begin + sizeof(exif));
  DecodeSettings settings;
  expect_as_whole(jpeg, "ignored", settings);
  settings.orientation = Orientation::kApply;
  expect_as_whole(jpeg, "applied", settings);
  const auto whole = decode(jpeg, settings);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->height_px, 64);
}

TEST_F(Rows, OfOtherFormatsArePixelsOfTheWhole) {
  const Image image = noise(45, 31);
  expect_as_whole(encode_png(image.view()), "PNG");
  const std::string header = "P6\n45 31\n255\n";
  Bytes ppm(header.size() + image.pixels.size());
  std::copy_n(as_bytes(header).begin(), header.size(), ppm.begin());
  std::copy_n(std::as_bytes(std::span(image.pixels)).begin(), image.pixels.size(),
              ppm.begin() + static_cast<std::ptrdiff_t>(header.size()));
  expect_as_whole(ppm, "PNM");
  expect_as_whole(as_bytes(std::string("GIF89a and so on")), "GIF");
  expect_as_whole(as_bytes(std::string("no picture")), "text");
}

TEST_F(Rows, OfCutFilesAreRefusedAsTheWholeIs) {
  const Image image = noise(80, 96);
  const Bytes jpeg = make_jpeg(80, 96, 3, image.pixels.data());
  const std::string tiff = write_tiff({}, {.width = 80, .height = 96, .strip_rows = 16});
  const std::string big =
      write_tiff({}, {.width = 80, .height = 96, .strip_rows = 16, .is_big = true});
  for (const BytesView file : {BytesView(jpeg), as_bytes(tiff), as_bytes(big)}) {
    for (std::size_t size = 3; size < file.size(); size += file.size() / 60 + 1) {
      expect_as_whole(file.first(size), std::to_string(size) + " bytes");
    }
  }
}

TEST_F(Rows, WhatCannotBeReadInPartsKeepsToTheLimit) {
  const Image image = noise(500, 400);
  const Bytes progressive = make_jpeg(500, 400, 3, image.pixels.data(), {.progressive = true});
  const Bytes baseline = make_jpeg(500, 400, 3, image.pixels.data());
  const std::uint64_t little = 200'000;  // the pixels take 600,000 bytes
  for (const Bytes& whole : {progressive, encode_png(image.view())}) {
    const auto refused = by_rows(EncodedBytes(BytesView(whole)), {}, little);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, Kind::kTooLarge);
    EXPECT_THAT(refused.error().detail, HasSubstr("--memory-limit"));
    EXPECT_TRUE(by_rows(EncodedBytes(BytesView(whole))));
  }
  EXPECT_TRUE(by_rows(EncodedBytes(BytesView(baseline)), {}, little));
  const std::string strips = write_tiff({}, {.width = 500, .height = 400, .strip_rows = 20});
  EXPECT_TRUE(by_rows(EncodedBytes(as_bytes(strips)), {}, little));
  const std::string tile =
      write_tiff({}, {.width = 500, .height = 400, .tile_width = 512, .tile_height = 400});
  const auto refused = by_rows(EncodedBytes(as_bytes(tile)), {}, little);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().detail, HasSubstr("--memory-limit"));
}

TEST_F(Rows, ABigTiffThatLiesAboutItsSizeIsRefused) {
  const std::string sound = write_tiff({}, {.strip_rows = 8, .is_big = true});
  ASSERT_TRUE(by_rows(EncodedBytes(as_bytes(sound))));
  const auto with = [&](std::size_t at, std::string_view bytes) {
    std::string changed = sound;
    changed.replace(at, bytes.size(), bytes);
    return changed;
  };
  using namespace std::string_view_literals;
  const auto refusal = [](const std::string& bytes) {
    const auto image = by_rows(EncodedBytes(as_bytes(bytes)));
    return image ? std::string("read") : image.error().detail;
  };
  EXPECT_THAT(refusal(with(4, "\4\0"sv)), HasSubstr("offsets are not of 8 bytes"));
  EXPECT_THAT(refusal(with(8, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F"sv)), HasSubstr("ends before"));
  std::uint64_t directory = 0;
  std::memcpy(&directory, sound.data() + 8, 8);
  EXPECT_THAT(refusal(with(directory, "\0\0\0\0\1\0\0\0"sv)),
              HasSubstr("entries in its directory"));
  // The first entry, ImageWidth: type, count, value.
  ASSERT_EQ(sound.substr(directory + 8, 2), "\0\1"sv);
  EXPECT_THAT(refusal(with(directory + 8 + 2, "\4\0\1\0\0\0\0\0\0\0\xFF\xFF\xFF\x7F"sv)),
              HasSubstr("side"));
  // More values than the file has bytes.
  EXPECT_THAT(refusal(with(directory + 8 + 4, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x1F"sv)),
              HasSubstr("ends within its directory"));
}

TEST_F(Rows, ShapesOfPicturesAreSaidWhereTheyAreOpenedInParts) {
  const Image image = noise(300, 211);
  const RowLimits limits{.memory_bytes = kPlenty};
  const Bytes jpeg = make_jpeg(300, 211, 3, image.pixels.data(), {.quality = 90});
  const auto shape = shape_in_parts(EncodedBytes(BytesView(jpeg)), {}, limits);
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->stored, (Size{211, 300}));
  EXPECT_EQ(shape->rows_to_reach, 211);
  const std::string tiff = write_tiff({}, {.strip_rows = 16});
  const auto of_strips = shape_in_parts(EncodedBytes(as_bytes(tiff)), {}, limits);
  ASSERT_TRUE(of_strips);
  EXPECT_EQ(of_strips->rows_to_reach, 16);
  const Bytes progressive =
      make_jpeg(300, 211, 3, image.pixels.data(), {.quality = 90, .progressive = true});
  EXPECT_FALSE(shape_in_parts(EncodedBytes(BytesView(progressive)), {}, limits));
  EXPECT_FALSE(shape_in_parts(EncodedBytes(as_bytes("no picture")), {}, limits));
}

// Rows above and below a tile can be read without decoding it.
TEST_F(Rows, DamageInRowsThatArePassedOverIsNotMet) {
  std::string tiff = write_tiff({.compression = COMPRESSION_ADOBE_DEFLATE},
                                {.width = 64, .height = 640, .tile_width = 64, .tile_height = 64});
  const std::size_t data = 8 + 50;  // in the first tile
  for (std::size_t at = data; at < data + 200; ++at) tiff[at] = '\xFF';
  auto damaged = open_rows(EncodedBytes(as_bytes(tiff)), {}, {.memory_bytes = kPlenty});
  ASSERT_TRUE(damaged);
  std::vector<std::uint8_t> row(64 * 3);
  EXPECT_TRUE((*damaged)->read(1, row.data()));
  auto sound = open_rows(EncodedBytes(as_bytes(tiff)), {}, {.memory_bytes = kPlenty});
  ASSERT_TRUE(sound);
  EXPECT_FALSE((*sound)->skip(128));
  EXPECT_FALSE((*sound)->read(1, row.data()));
}

TEST_F(Rows, AFileThatIsCutMeanwhileIsSaid) {
  const Image image = noise(500, 2000);
  const auto path = folder_ / "picture";
  const Bytes jpeg = make_jpeg(500, 2000, 3, image.pixels.data(), {.quality = 100});
  ASSERT_GT(jpeg.size(), 600'000U);
  const std::string tiff = write_tiff({.compression = COMPRESSION_NONE},
                                      {.width = 500, .height = 2000, .strip_rows = 8});
  for (const BytesView bytes : {BytesView(jpeg), as_bytes(tiff)}) {
    std::ofstream(path, std::ios::binary) << as_text(bytes);
    auto rows = open_rows(EncodedBytes(InputFile(path)), {}, {.memory_bytes = kPlenty});
    ASSERT_TRUE(rows);
    std::filesystem::resize_file(path, 1000);
    std::vector<std::uint8_t> pixels(500 * 3 * 2000);
    EXPECT_THROW(
        {
          auto error = (*rows)->read(2000, pixels.data());
          ADD_FAILURE() << (error ? error->detail : "read");
        },
        SystemError);
  }
}

}  // namespace winnow::pipeline::rows_test

#include "pipeline/decode/decode.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <thread>

#include "common/error.h"
#include "common/file.h"
#include "common/rng.h"
#include "pipeline/decode/shrink.h"
#include "places.h"
#include "tests/common/formula_images.h"
#include "tests/common/opencv_codecs.h"
#include "tests/common/tiff_maker.h"
#include "tests/common/vectors.h"
#include "tests/pipeline/base64.h"
#include "tests/pipeline/jpeg_maker.h"

namespace winnow::pipeline::decode_test {

using Kind = DecodeError::Kind;
using test::fnv1a;
using test::formula_image;
using test::from_base64;
using test::JpegOptions;
using test::make_jpeg;

// Where the last marker of a kind begins.
std::size_t find_last(const Bytes& jpeg, int marker) {
  std::size_t at = jpeg.size() - 2;
  while (at > 0 &&
         !(jpeg[at] == std::byte{0xFF} && jpeg[at + 1] == static_cast<std::byte>(marker))) {
    --at;
  }
  return at;
}

// Encodes with OpenCV, which takes B, G, R(, A).
Bytes encode(const char* ending, const Image& rgb, int type = CV_8UC3,
             const std::vector<int>& options = {}) {
  cv::Mat mat(rgb.height_px, rgb.width_px, type);
  const int channels = mat.channels();
  for (int y = 0; y < mat.rows; ++y) {
    for (int x = 0; x < mat.cols * channels; ++x) {
      const int c = x % channels;
      const std::uint8_t* p = rgb.view().row(y) + x / channels * 3;
      const int value = channels == 1 ? p[0] : c == 3 ? 255 - p[0] / 2 : p[2 - c];
      if (mat.depth() == CV_8U) {
        mat.ptr<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(value);
      } else {
        mat.ptr<std::uint16_t>(y)[x] = static_cast<std::uint16_t>(value * 256 + 200);
      }
    }
  }
  std::vector<std::uint8_t> out;
  EXPECT_TRUE(opencv_encode(ending, mat, out, options));
  const auto* begin = reinterpret_cast<const std::byte*>(out.data());
  return Bytes(begin, begin + out.size());
}

Image red_of(const Image& rgb) {
  Image out(rgb.height_px, rgb.width_px, 1);
  for (std::size_t i = 0; i < out.pixels.size(); ++i) out.pixels[i] = rgb.pixels[3 * i];
  return out;
}

BytesView first(const Bytes& bytes, std::size_t count) { return BytesView(bytes).first(count); }

std::optional<Kind> error_of(BytesView bytes, const DecodeSettings& settings = {},
                             const BeforeAllocation& before = {}) {
  const auto image = decode(bytes, settings, {before, {}});
  return image ? std::nullopt : std::optional(image.error().kind);
}

// Files with the pixels of `image` in every lossless format.
std::vector<std::pair<std::string, Bytes>> lossless_files(const Image& image) {
  return {{"png", encode(".png", image)},
          {"png16", encode(".png", image, CV_16UC3)},
          {"png alpha", encode(".png", image, CV_8UC4)},
          {"bmp", encode(".bmp", image)},
          {"ppm", encode(".ppm", image)},
          {"ppm text", encode(".ppm", image, CV_8UC3, {cv::IMWRITE_PXM_BINARY, 0})},
          {"ppm16", encode(".ppm", image, CV_16UC3)},
          {"tiff", encode(".tiff", image)},
          {"tiff plain", encode(".tiff", image, CV_8UC3, {cv::IMWRITE_TIFF_COMPRESSION, 1})},
          {"tiff16", encode(".tiff", image, CV_16UC3)},
          {"tiff alpha", encode(".tiff", image, CV_8UC4)},
          {"webp", encode(".webp", image, CV_8UC3, {cv::IMWRITE_WEBP_QUALITY, 101})},
          {"webp alpha", encode(".webp", image, CV_8UC4, {cv::IMWRITE_WEBP_QUALITY, 101})}};
}

TEST(Decode, MakesPillowsPixels) {
  for (const JsonReader& row : test::vectors("pipeline/decode", "files")) {
    const std::string name = row.at("name").text();
    const auto image = decode(from_base64(row.at("file").text()), {});
    ASSERT_TRUE(image) << name << ": " << image.error().detail;
    EXPECT_EQ(image->height_px, row.at("height").number<int>()) << name;
    EXPECT_EQ(image->width_px, row.at("width").number<int>()) << name;
    EXPECT_EQ(image->channels, row.at("channels").number<int>()) << name;
    EXPECT_EQ(fnv1a(image->pixels), test::hash_of(row.at("pixels"))) << name;
  }
}

TEST(Decode, LosslessFormatsGiveThePixelsBack) {
  const Image image = formula_image("lcg", 37, 23);
  for (const auto& [name, bytes] : lossless_files(image)) {
    const auto decoded = decode(bytes, {});
    ASSERT_TRUE(decoded) << name << ": " << decoded.error().detail;
    EXPECT_EQ(*decoded, image) << name;
  }
  const Image gray = red_of(image);
  for (const char* ending : {".png", ".bmp", ".pgm", ".tiff"}) {
    for (const int type : {CV_8UC1, CV_16UC1}) {
      if (type == CV_16UC1 && std::string(ending) == ".bmp") continue;
      const auto decoded = decode(encode(ending, image, type), {});
      ASSERT_TRUE(decoded) << ending << ": " << decoded.error().detail;
      EXPECT_EQ(*decoded, gray) << ending << " of type " << type;
    }
  }
}

TEST(Decode, PnmOfTenBitsIsScaledToItsWhite) {
  const std::string text = "P2\n# made by hand\n4 1\n1023\n0 512 1023 4\n";
  const auto decoded = decode(as_bytes(text), {});
  ASSERT_TRUE(decoded) << decoded.error().detail;
  EXPECT_EQ(decoded->pixels, (std::vector<std::uint8_t>{0, 128, 255, 1}));
}

TEST(Decode, JpegIsNearThePixels) {
  const Image image = formula_image("blob", 65, 48);
  for (const bool progressive : {false, true}) {
    for (const int restart_rows : {0, 1}) {
      const auto decoded = decode(make_jpeg(image, {98, progressive, restart_rows}), {});
      ASSERT_TRUE(decoded) << decoded.error().detail;
      ASSERT_EQ(decoded->pixels.size(), image.pixels.size());
      double difference = 0;
      for (std::size_t i = 0; i < image.pixels.size(); ++i) {
        difference += std::abs(decoded->pixels[i] - image.pixels[i]);
      }
      EXPECT_LT(difference / static_cast<double>(image.pixels.size()), 3.0);
    }
  }
  const Image gray = red_of(image);
  const auto decoded = decode(make_jpeg(gray), {});
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->channels, 1);
}

TEST(Decode, FourInksBecomeColoursAsAdobeMeansThem) {
  // Inverted inks, where 255 means no ink: white, black by its own ink, half cyan.
  const std::uint8_t inks[3][4] = {{255, 255, 255, 255}, {255, 255, 255, 0}, {128, 255, 255, 255}};
  const int want[3][3] = {{255, 255, 255}, {0, 0, 0}, {128, 255, 255}};
  for (int i = 0; i < 3; ++i) {
    std::vector<std::uint8_t> pixels;
    for (int n = 0; n < 256; ++n) pixels.insert(pixels.end(), inks[i], inks[i] + 4);
    const auto decoded = decode(make_jpeg(16, 16, 4, pixels.data()), {});
    ASSERT_TRUE(decoded) << decoded.error().detail;
    ASSERT_EQ(decoded->channels, 3);
    for (std::size_t at = 0; at < decoded->pixels.size(); ++at) {
      EXPECT_NEAR(decoded->pixels[at], want[i][at % 3], 2) << i;
    }
  }
}

TEST(Decode, FourInksAreInvertedWithoutAdobesMarkerToo) {
  std::vector<std::uint8_t> inks;
  for (int n = 0; n < 256; ++n) inks.insert(inks.end(), {128, 255, 255, 255});
  Bytes bytes = make_jpeg(16, 16, 4, inks.data(), {.plain_inks = true});
  const std::size_t marker = find_last(bytes, 0xEE);
  ASSERT_GT(marker, 0U);
  const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(marker);
  bytes.erase(at, at + 16);
  const auto decoded = decode(bytes, {});  // Pillow reads them the same way
  ASSERT_TRUE(decoded) << decoded.error().detail;
  EXPECT_NEAR(decoded->pixels[0], 128, 2);
  EXPECT_NEAR(decoded->pixels[1], 255, 2);
}

TEST(Decode, ArithmeticCodingGivesTheSamePixels) {
  const Image image = formula_image("blob", 65, 48);
  for (const bool progressive : {false, true}) {
    const auto huffman = decode(make_jpeg(image, {.progressive = progressive}), {});
    const auto arithmetic =
        decode(make_jpeg(image, {.progressive = progressive, .arithmetic = true}), {});
    ASSERT_TRUE(huffman && arithmetic);
    EXPECT_EQ(arithmetic->pixels, huffman->pixels);
  }
}

TEST(Decode, GrayWithAlphaIsGray) {
  const auto eight_bits = decode(
      from_base64(
          "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAQAAADYv8WvAAAAEklEQVR42mPg+n+CgcG34T8jABKHA5+vzbLRAAAA"
          "AElFTkSuQmCC"),
      {});
  ASSERT_TRUE(eight_bits) << eight_bits.error().detail;
  EXPECT_EQ(eight_bits->channels, 1);
  EXPECT_EQ(eight_bits->pixels, (std::vector<std::uint8_t>{10, 200, 77, 255}));
  const auto sixteen_bits = decode(
      from_base64(
          "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABEAQAAAAOu2tCAAAAEUlEQVR42mPg+v///wlGBgYAFWoD0SzodnEAAAAA"
          "SUVORK5CYII="),
      {});
  ASSERT_TRUE(sixteen_bits) << sixteen_bits.error().detail;
  EXPECT_EQ(sixteen_bits->channels, 1);
  EXPECT_EQ(sixteen_bits->pixels, (std::vector<std::uint8_t>{10, 200}));
}

// Other kinds of PNG are tested in end_to_end.dedup, BMP and TIFF in their own tests.
TEST(Decode, AlphaIsKeptBesideThePixelsWhereItIsAskedFor) {
  const Image image = formula_image("lcg", 21, 34);
  const std::vector<std::pair<std::string, Bytes>> files{
      {"png", encode(".png", image, CV_8UC4)},
      {"png16", encode(".png", image, CV_16UC4)},
      {"webp lossless", encode(".webp", image, CV_8UC4, {cv::IMWRITE_WEBP_QUALITY, 101})},
      {"webp lossy", encode(".webp", image, CV_8UC4, {cv::IMWRITE_WEBP_QUALITY, 80})}};
  Image alpha(image.height_px, image.width_px, 1);
  for (std::size_t i = 0; i < alpha.pixels.size(); ++i) {
    alpha.pixels[i] = static_cast<std::uint8_t>(255 - image.pixels[3 * i] / 2);
  }
  for (const auto& [name, bytes] : files) {
    const auto without = decode(bytes, {});
    const auto with = decode(bytes, {}, {.keep_alpha = true});
    const auto matted = decode(bytes, {.matte = Matte{1, 2, 3}}, {.keep_alpha = true});
    ASSERT_TRUE(without && with && matted) << name;
    EXPECT_EQ(static_cast<const Image&>(*with), static_cast<const Image&>(*without)) << name;
    EXPECT_EQ(with->alpha, alpha) << name;
    EXPECT_EQ(without->alpha, Image()) << name;
    EXPECT_EQ(matted->alpha, Image()) << name;
  }
  for (const auto& [name, bytes] : lossless_files(image)) {  // some have alpha
    if (name.ends_with(" alpha")) continue;
    EXPECT_EQ(decode(bytes, {}, {.keep_alpha = true})->alpha, Image()) << name;
  }
  const Image black(21, 34, 3);  // `encode` gives it an alpha of 255
  EXPECT_EQ(decode(encode(".png", black, CV_8UC4), {}, {.keep_alpha = true})->alpha, Image());
}

TEST(Decode, WhatEndsEarlyIsAnError) {
  const Image image = formula_image("lcg", 64, 64);
  auto files = lossless_files(image);
  files.emplace_back("jpeg", make_jpeg(image));
  files.emplace_back("progressive", make_jpeg(image, {90, true, 0}));
  files.emplace_back("restarts", make_jpeg(image, {90, false, 1}));
  files.emplace_back("gray", make_jpeg(red_of(image)));
  files.emplace_back("webp lossy", encode(".webp", image));
  for (const auto& [name, bytes] : files) {
    ASSERT_FALSE(error_of(bytes)) << name;
    EXPECT_EQ(error_of(first(bytes, 0)), Kind::kTruncated) << name;
    for (std::size_t sixteenths = 1; sixteenths < 16; ++sixteenths) {
      const std::size_t count = bytes.size() * sixteenths / 16;
      EXPECT_EQ(error_of(first(bytes, count)), Kind::kTruncated)
          << name << " cut to " << count << " of " << bytes.size();
    }
    // A text image is still valid without its last line break or the last digit.
    if (name != "ppm text") {
      EXPECT_EQ(error_of(first(bytes, bytes.size() - 1)), Kind::kTruncated) << name;
    }
  }
}

TEST(Decode, AJpegWithExtraneousBytesIsReadAndSaysSo) {
  const Image image = formula_image("tri", 40, 40);
  const Bytes sound = make_jpeg(image);
  const auto want = decode(sound, {});
  ASSERT_TRUE(want);
  EXPECT_EQ(want->damage, Damage::kNone);
  EXPECT_EQ(want->warning, "");
  Bytes bytes = sound;
  bytes.insert(bytes.end() - 2, 7, std::byte{0x11});
  const auto decoded = decode(bytes, {});
  ASSERT_TRUE(decoded) << decoded.error().detail;
  EXPECT_EQ(static_cast<const Image&>(*decoded), static_cast<const Image&>(*want));
  EXPECT_EQ(decoded->damage, Damage::kWarning);
  EXPECT_NE(decoded->warning.find("extraneous bytes before marker 0xd9"), std::string::npos)
      << decoded->warning;
  // Data behind the end of the image is ignored, as some cameras write it.
  bytes = sound;
  bytes.insert(bytes.end(), 100, std::byte{0x11});
  EXPECT_EQ(decode(bytes, {})->damage, Damage::kNone);
}

// The PNG with an iCCP chunk that libpng warns about.
Bytes with_bad_profile(const Bytes& png) {
  Bytes body;
  for (const char c : std::string("iCCPicc")) body.push_back(static_cast<std::byte>(c));
  for (const int value : {0, 0, 0x78, 0x9C, 3, 0, 0, 0, 0, 1}) {
    body.push_back(static_cast<std::byte>(value));
  }
  const auto put_number = [](Bytes& to, std::uint64_t number) {
    for (int shift = 24; shift >= 0; shift -= 8)
      to.push_back(static_cast<std::byte>(number >> shift));
  };
  Bytes chunk;
  put_number(chunk, body.size() - 4);
  chunk.insert(chunk.end(), body.begin(), body.end());
  put_number(chunk,
             crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size())));
  Bytes out = png;
  out.insert(out.begin() + 33, chunk.begin(), chunk.end());  // after IHDR
  return out;
}

TEST(Decode, WhatLibpngWarnsOfIsInTheImageAndNotPrinted) {
  const Image picture = formula_image("tri", 12, 9);
  for (const int type : {CV_8UC3, CV_16UC3, CV_8UC4}) {
    const Bytes sound = encode(".png", picture, type);
    const auto want = decode(sound, {});
    ASSERT_TRUE(want);
    EXPECT_EQ(want->warning, "");
    testing::internal::CaptureStderr();
    const auto decoded = decode(with_bad_profile(sound), {});
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    ASSERT_TRUE(decoded) << decoded.error().detail;
    EXPECT_EQ(static_cast<const Image&>(*decoded), static_cast<const Image&>(*want));
    EXPECT_EQ(decoded->damage, Damage::kWarning);
    EXPECT_NE(decoded->warning.find("iCCP"), std::string::npos) << decoded->warning;
  }
}

TEST(Decode, AJpegWithALostRestartMarkerIsReadAndSaysSo) {
  const Image image = formula_image("tri", 64, 64);
  Bytes bytes = make_jpeg(image, {90, false, 1});
  // Not one of the next markers: libjpeg continues
  bytes[find_last(bytes, 0xD1) + 1] = std::byte{0xD5};
  const auto decoded = decode(bytes, {});
  ASSERT_TRUE(decoded) << decoded.error().detail;
  EXPECT_EQ(decoded->damage, Damage::kWarning);
  EXPECT_NE(decoded->warning.find("found marker 0xd5 instead of RST1"), std::string::npos)
      << decoded->warning;
}

TEST(Decode, AJpegThatLacksSomeOfItsMiddleIsCorrupt) {
  const Image image = formula_image("tri", 64, 64);
  for (const JpegOptions& options : {JpegOptions{}, JpegOptions{90, true, 0}}) {
    const Bytes sound = make_jpeg(image, options);
    Bytes bytes(sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(sound.size() * 2 / 3));
    bytes.insert(bytes.end(), sound.end() - 2, sound.end());  // it has its end marker
    const auto decoded = decode(bytes, {});
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().kind, Kind::kCorrupt) << options.progressive;
    EXPECT_NE(decoded.error().detail.find("damaged within its pixels"), std::string::npos);
  }
}

TEST(Decode, EveryPrefixOfASmallFileIsAnError) {
  for (const JsonReader& row : test::vectors("pipeline/decode", "files")) {
    const std::string name = row.at("name").text();
    const Bytes bytes = from_base64(row.at("file").text());
    for (std::size_t count = 0; count < bytes.size(); ++count) {
      EXPECT_TRUE(error_of(first(bytes, count))) << name << " cut to " << count;
    }
  }
}

// Silences std::cerr, to which OpenCV writes about some damaged TIFFs.
class QuietErrors {
 public:
  QuietErrors() : before_(std::cerr.rdbuf(nullptr)) {}
  ~QuietErrors() { std::cerr.rdbuf(before_); }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  std::streambuf* before_;
};

TEST(Decode, DamageNeverCrashesAndNeverChangesTheSizeUnnoticed) {
  const Image image = formula_image("tri", 24, 24);
  auto files = lossless_files(image);
  files.emplace_back("jpeg", make_jpeg(image));
  files.emplace_back("progressive", make_jpeg(image, {90, true, 0}));
  for (const JsonReader& row : test::vectors("pipeline/decode", "files")) {
    files.emplace_back(row.at("name").text(), from_base64(row.at("file").text()));
  }
  CounterRng rng(5, 0, 0, RandomUse::kTest);
  const DecodeSettings settings{.max_pixels = 1 << 20};
  const QuietErrors quiet;
  int refused = 0;
  int tried = 0;
  for (const auto& [name, bytes] : files) {
    for (int round = 0; round < 120; ++round) {
      Bytes damaged = bytes;
      for (std::uint32_t flips = rng.below(3) + 1; flips > 0; --flips) {
        damaged[rng.below(static_cast<std::uint32_t>(damaged.size()))] ^=
            static_cast<std::byte>(1 << rng.below(8));
      }
      const auto decoded = decode(damaged, settings);
      ++tried;
      if (!decoded) {
        ++refused;
        EXPECT_FALSE(decoded.error().detail.empty()) << name;
        continue;
      }
      EXPECT_EQ(decoded->pixels.size(),
                static_cast<std::size_t>(decoded->height_px * decoded->width_px) *
                    static_cast<std::size_t>(decoded->channels))
          << name;
    }
  }
  EXPECT_GT(refused, tried / 4);
}

TEST(Decode, ADamagedPngIsNeverTakenForAWholeOne) {
  const Bytes png = encode(".png", formula_image("lcg", 9, 9));
  for (std::size_t at = 8; at < png.size(); ++at) {
    Bytes damaged = png;
    damaged[at] ^= std::byte{0x10};
    EXPECT_TRUE(error_of(damaged)) << "byte " << at;
  }
}

// A file that claims 65500 x 65500 pixels and has no data.
TEST(Decode, RefusesBySizeBeforeAnythingIsAllocated) {
  const Image dot = formula_image("lcg", 8, 8);
  Bytes jpeg = make_jpeg(dot);
  Bytes png = encode(".png", dot);
  Bytes bmp = encode(".bmp", dot);
  const auto put = [](Bytes& bytes, std::size_t at, std::initializer_list<int> values) {
    for (const int v : values) bytes.at(at++) = static_cast<std::byte>(v);
  };
  for (std::size_t i = 2; i + 8 < jpeg.size(); ++i) {
    if (jpeg[i] == std::byte{0xFF} && jpeg[i + 1] == std::byte{0xC0}) {
      put(jpeg, i + 5, {0xFF, 0xDC, 0xFF, 0xDC});
      break;
    }
  }
  put(png, 16, {0, 0, 0xFF, 0xDC, 0, 0, 0xFF, 0xDC});
  const uLong crc = crc32(0, reinterpret_cast<const Bytef*>(png.data()) + 12, 17);
  for (std::size_t i = 0; i < 4; ++i) png[29 + i] = static_cast<std::byte>(crc >> (24 - 8 * i));
  const std::string pnm = "P6 65500 65500 255\n";
  bool asked = false;
  const BeforeAllocation before = [&](std::uint64_t) { asked = true; };
  EXPECT_EQ(error_of(jpeg, {}, before), Kind::kTooLarge);
  EXPECT_EQ(error_of(png, {}, before), Kind::kTooLarge);
  put(bmp, 18, {0xDC, 0xFF, 0, 0, 0xDC, 0xFF, 0, 0});
  EXPECT_EQ(error_of(bmp, {}, before), Kind::kTruncated);
  EXPECT_EQ(error_of(as_bytes(pnm), {}, before), Kind::kTruncated);
  EXPECT_FALSE(asked);
}

TEST(Decode, TheLimitIsExactForEveryFormat) {
  const Image image = formula_image("lcg", 20, 10);
  auto files = lossless_files(image);
  files.emplace_back("jpeg", make_jpeg(image));
  for (const auto& [name, bytes] : files) {
    std::uint64_t asked_bytes = 0;
    const BeforeAllocation before = [&](std::uint64_t count) { asked_bytes += count; };
    EXPECT_EQ(error_of(bytes, {.max_pixels = 199}, before), Kind::kTooLarge) << name;
    EXPECT_EQ(asked_bytes, 0U) << name;
    EXPECT_FALSE(error_of(bytes, {.max_pixels = 200}, before)) << name;
    EXPECT_GE(asked_bytes, 600U) << name;
  }
}

TEST(Decode, ManyScansAreRefused) {
  JpegOptions progressive;
  progressive.plain_scans = true;
  const Image image = formula_image("blob", 16, 16);
  const Bytes jpeg = make_jpeg(image, progressive);
  std::size_t last_scan = 0;
  for (std::size_t i = 0; i + 1 < jpeg.size(); ++i) {
    if (jpeg[i] == std::byte{0xFF} && jpeg[i + 1] == std::byte{0xDA}) last_scan = i;
  }
  ASSERT_GT(last_scan, 0U);
  const auto with_scans = [&](int more) {
    Bytes bytes(jpeg.begin(), jpeg.end() - 2);
    for (int i = 0; i < more; ++i) {
      bytes.insert(bytes.end(), jpeg.begin() + static_cast<std::ptrdiff_t>(last_scan),
                   jpeg.end() - 2);
    }
    bytes.insert(bytes.end(), jpeg.end() - 2, jpeg.end());
    return decode(bytes, {});
  };
  const auto once = with_scans(0);
  const auto often = with_scans(400);
  const auto too_often = with_scans(600);
  ASSERT_TRUE(once);
  ASSERT_TRUE(often) << often.error().detail;
  EXPECT_EQ(*often, *once);
  ASSERT_FALSE(too_often);
  EXPECT_EQ(too_often.error().kind, Kind::kTooLarge);
  EXPECT_NE(too_often.error().detail.find("500 scans"), std::string::npos);
}

TEST(Decode, ManyScansOfALargePictureAreRefusedBeforeOneIsDecoded) {
  const Image image(2000, 2000, 3);
  Bytes bytes = make_jpeg(image, {.progressive = true, .plain_scans = true});
  const std::size_t last_scan = find_last(bytes, 0xDA);
  const Bytes scan(bytes.begin() + static_cast<std::ptrdiff_t>(last_scan), bytes.end() - 2);
  for (int i = 0; i < 1000; ++i) bytes.insert(bytes.end() - 2, scan.begin(), scan.end());
  bool asked = false;
  const BeforeAllocation before = [&](std::uint64_t) { asked = true; };
  EXPECT_EQ(error_of(bytes, {}, before), Kind::kTooLarge);
  EXPECT_FALSE(asked);
  const Bytes few = make_jpeg(image, {.plain_scans = true});
  EXPECT_EQ(error_of(few, {.max_scans = 3}, before), Kind::kTooLarge);
  EXPECT_FALSE(asked);
  EXPECT_FALSE(error_of(few, {.max_scans = 4}, before));
  EXPECT_TRUE(asked);
}

TEST(Decode, WhatIsTurnedTakesItsMemoryTwice) {
  using namespace std::string_view_literals;
  Bytes bytes = make_jpeg(formula_image("tri", 640, 480));
  const BytesView exif = as_bytes(
      "\xFF\xE1\0\x22"
      "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"sv);
  bytes.insert(bytes.begin() + 2, exif.begin(), exif.end());
  std::uint64_t asked_bytes = 0;
  const BeforeAllocation before = [&](std::uint64_t count) { asked_bytes = count; };
  constexpr std::uint64_t kPixels = 640 * 480 * 3;
  EXPECT_FALSE(error_of(bytes, {}, before));
  EXPECT_GE(asked_bytes, kPixels);
  EXPECT_LT(asked_bytes, kPixels * 5 / 4);
  EXPECT_FALSE(error_of(bytes, {.orientation = Orientation::kApply}, before));
  EXPECT_EQ(asked_bytes, 2 * kPixels);
}

std::optional<DecodeError> tiff_error(const std::string& tiff, bool& asked) {
  const BeforeAllocation before = [&](std::uint64_t) { asked = true; };
  const auto image = decode(as_bytes(tiff), {}, {before, {}});
  return image ? std::nullopt : std::optional(image.error());
}

TEST(DecodeTiff, OfHugeTilesIsRefusedBeforeOneIsAllocated) {
  const test::TiffOptions options{.width = 10, .height = 10};
  std::vector<test::TiffEntry> entries = test::tiff_entries(options, 2);
  for (test::TiffEntry& entry : entries) {
    if (entry.tag == 273) entry.tag = 324;
    if (entry.tag == 279) entry.tag = 325;
    if (entry.tag == 278) entry.tag = 200;  // an unknown tag
  }
  entries.push_back({322, 4, {32768}});
  entries.push_back({323, 4, {32736}});
  bool asked = false;
  const auto error = tiff_error(test::tiff_file(entries, "xx"), asked);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, Kind::kTooLarge) << error->detail;
  EXPECT_FALSE(asked);
}

// A picture one column wide, in tiles of width 16,384: each tile would be decoded whole.
TEST(DecodeTiff, OfTilesFarBeyondThePictureIsRefused) {
  for (const auto& [tiles, refused] : {std::pair{20U, false}, {30U, true}}) {
    const test::TiffOptions options{
        .width = 1, .height = tiles * 1024, .tile_width = 16'384, .tile_height = 1024};
    const std::string tiff = test::tiff_file(test::tiff_entries(options, 2), "xx");
    bool asked = false;
    const BeforeAllocation before = [&](std::uint64_t) {
      asked = true;
      throw std::bad_alloc();
    };
    std::optional<Kind> kind;
    try {
      kind = error_of(as_bytes(tiff), {}, before);
    } catch (const std::bad_alloc&) {
    }
    EXPECT_EQ(asked, !refused);
    EXPECT_EQ(kind, refused ? std::optional(Kind::kTooLarge) : std::nullopt);
  }
}

TEST(DecodeTiff, OfTooManyStripsIsUnsupported) {
  for (const auto& [strips, refused] : {std::pair{65'536U, false}, {65'537U, true}}) {
    bool asked = false;
    const auto error =
        tiff_error(test::make_tiff({.width = 1, .height = strips, .strip_rows = 1}), asked);
    EXPECT_EQ(error ? std::optional(error->kind) : std::nullopt,
              refused ? std::optional(Kind::kUnsupported) : std::nullopt);
    EXPECT_EQ(asked, !refused);
  }
}

TEST(DecodeTiff, OfALargeTileAnnouncesAFewOfItsRows) {
  const std::string tiff =
      test::make_tiff({.width = 10, .height = 10, .tile_width = 2048, .tile_height = 1024});
  std::uint64_t asked_bytes = 0;
  const BeforeAllocation before = [&](std::uint64_t count) { asked_bytes = count; };
  const auto image = decode(as_bytes(tiff), {}, {before, {}});
  ASSERT_TRUE(image) << image.error().detail;
  EXPECT_LT(asked_bytes, 2048U * 1024);
}

TEST(DecodeTiff, WithATagTwiceIsCorrupt) {
  for (const bool tiled : {false, true}) {
    const test::TiffOptions options{.width = 48,
                                    .height = 32,
                                    .samples = 4,
                                    .tile_width = tiled ? 16U : 0,
                                    .tile_height = tiled ? 16U : 0};
    const std::string block = test::tiff_block(options);
    const auto entries = test::tiff_entries(options, block.size());
    bool asked = false;
    ASSERT_FALSE(tiff_error(test::tiff_file(entries, block), asked));
    asked = false;
    for (const test::TiffEntry& entry : entries) {
      auto more = entries;
      more.push_back(entry);
      const auto error = tiff_error(test::tiff_file(more, block), asked);
      ASSERT_TRUE(error) << entry.tag;
      EXPECT_EQ(error->kind, Kind::kCorrupt) << entry.tag;
      EXPECT_EQ(error->detail, "the TIFF's tag " + std::to_string(entry.tag) + " occurs twice");
      EXPECT_FALSE(asked);
    }
  }
}

// libtiff would accept such a type. A filter that skips the entry would let libtiff decode what was
// never checked.
TEST(DecodeTiff, WithATypeThatIsNotReadIsCorrupt) {
  const test::TiffOptions options{.width = 48, .height = 32};
  const std::string block = test::tiff_block(options);
  for (const std::uint32_t type : {1U, 16U}) {
    for (std::size_t i = 0; i < test::tiff_entries(options, 1).size(); ++i) {
      auto entries = test::tiff_entries(options, block.size());
      entries[i].type = type;
      bool asked = false;
      const auto error = tiff_error(test::tiff_file(entries, block), asked);
      ASSERT_TRUE(error) << entries[i].tag << " of type " << type;
      EXPECT_EQ(error->kind, Kind::kCorrupt) << entries[i].tag;
      EXPECT_FALSE(asked);
    }
  }
}

// A JBIG scan has its own size, and libjbig ends the process if it gets no memory for it.
TEST(DecodeTiff, OfJbigIsUnsupported) {
  using namespace std::string_literals;
  const std::string scan =
      "\0\0\1\0\x7f\xff\xff\xff\x7f\xff\xff\xff\x7f\xff\xff\xff\0\0\0\0\xff\2"s;
  auto entries = test::tiff_entries({.samples = 1, .bits = 1}, scan.size());
  for (test::TiffEntry& entry : entries) {
    if (entry.tag == 259) entry.values = {34661};
  }
  bool asked = false;
  const auto error = tiff_error(test::tiff_file(entries, scan), asked);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, Kind::kUnsupported);
  EXPECT_FALSE(asked);
}

// libtiff would decode a hundred scans per strip.
TEST(DecodeTiff, OfProgressiveJpegsIsUnsupported) {
  const Image image = formula_image("tri", 64, 64);
  for (const bool progressive : {false, true}) {
    const Bytes jpeg = make_jpeg(image, {.progressive = progressive});
    const std::string block(as_text(jpeg));
    auto entries = test::tiff_entries({}, block.size());
    for (test::TiffEntry& entry : entries) {
      if (entry.tag == 259) entry.values = {7};
      if (entry.tag == 262) entry.values = {6};
    }
    bool asked = false;
    const auto error = tiff_error(test::tiff_file(entries, block), asked);
    EXPECT_EQ(asked, !progressive);
    EXPECT_EQ(error.has_value(), progressive);
    if (error) {
      EXPECT_EQ(error->kind, Kind::kUnsupported);
    }
  }
}

TEST(DecodeTiff, OfMoreThan16BitsIsRefusedBeforeItIsDecoded) {
  bool asked = false;
  const auto error = tiff_error(test::make_tiff({.samples = 1, .bits = 32}), asked);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, Kind::kUnsupported);
  EXPECT_NE(error->detail.find("8 or 16 bits"), std::string::npos);
  EXPECT_FALSE(asked);
}

TEST(Decode, EndsWhereItIsStopped) {
  const Image image = formula_image("tri", 200, 200);
  std::vector<std::pair<std::string, Bytes>> files{
      {"baseline", make_jpeg(image)},
      {"progressive", make_jpeg(image, {.progressive = true})},
      {"png", encode(".png", image)}};
  for (const auto& [name, bytes] : files) {
    for (const int after : {0, 5, 20}) {
      int asked = 0;
      const auto stop = [&] { return asked++ == after; };
      EXPECT_THROW(static_cast<void>(decode(bytes, {}, {{}, stop})), StoppedError) << name;
      EXPECT_EQ(asked, after + 1) << name;
    }
  }
}

// Large pictures check often enough that little is decoded in between: before the first pixel, and
// at least once for each 2^21 pixels.
TEST(Decode, AsksWhetherToStopAllAlong) {
  const Image image = formula_image("tri", 1500, 1500);
  const std::vector<int> text{cv::IMWRITE_PXM_BINARY, 0};
  const std::vector<std::pair<std::string, Bytes>> files{
      {"jpeg", make_jpeg(image)},
      {"png", encode(".png", image)},
      {"webp", encode(".webp", image, CV_8UC3, {cv::IMWRITE_WEBP_QUALITY, 50})},
      {"webp alpha", encode(".webp", image, CV_8UC4, {cv::IMWRITE_WEBP_QUALITY, 50})},
      {"ppm", encode(".ppm", image)},
      {"ppm text", encode(".ppm", image, CV_8UC3, text)},
      {"pgm of 16 bits", encode(".pgm", image, CV_16UC1)},
      {"pbm", encode(".pbm", image, CV_8UC1)}};
  for (const auto& [name, bytes] : files) {
    int asked = 0;
    const auto count = [&] { return ++asked < 0; };
    ASSERT_TRUE(decode(bytes, {}, {{}, count})) << name;
    EXPECT_GE(asked, 1 + 2) << name;
    const int all = asked;
    asked = 0;
    const auto last = [&] { return ++asked == all; };
    EXPECT_THROW(static_cast<void>(decode(bytes, {}, {{}, last})), StoppedError) << name;
  }
}

TEST(Decode, AWebpInPiecesHasThePixelsOfTheWhole) {
  const Image image = formula_image("tri", 1500, 1500);
  const Bytes webp = encode(".webp", image, CV_8UC3, {cv::IMWRITE_WEBP_QUALITY, 101});
  int asked = 0;
  const auto decoded = decode(webp, {}, {{}, [&] { return ++asked < 0; }});
  ASSERT_TRUE(decoded) << decoded.error().detail;
  EXPECT_EQ(*decoded, image);
  EXPECT_GE(asked, 1 + 2);
}

constexpr int kScales[] = {2, 4, 8};

TEST(Decode, BoxesAreAveragedAndRounded) {
  Image image(3, 5, 1);
  image.pixels = {0, 1, 10, 20, 100,  //
                  2, 4, 30, 41, 255,  //
                  7, 8, 50, 60, 9};
  const Image half = box_average(image.view(), 2);
  EXPECT_EQ(half.height_px, 2);
  EXPECT_EQ(half.width_px, 3);
  // 7 / 4, 101 / 4, 355 / 2; in the last row 15 / 2, 110 / 2, 9.
  EXPECT_EQ(half.pixels, (std::vector<std::uint8_t>{2, 25, 178, 8, 55, 9}));
  EXPECT_EQ(box_average(image.view(), 8).pixels, (std::vector<std::uint8_t>{40}));  // 597 / 15
  Image colour(1, 2, 3);
  colour.pixels = {0, 100, 255, 1, 200, 255};
  EXPECT_EQ(box_average(colour.view(), 4).pixels, (std::vector<std::uint8_t>{1, 150, 255}));
  EXPECT_EQ(box_average(colour.view(), 1), colour);
}

// For scaled JPEGs, the vectors of pipeline/parity have Pillow's pixels.
TEST(Decode, WhatIsNotScaledByLibjpegIsBoxesOfAllPixels) {
  const Image image = formula_image("tri", 37, 21);
  std::vector<std::pair<std::string, Bytes>> files = lossless_files(image);
  files.emplace_back("4:1:1", make_jpeg(image, {.luma_width = 4}));
  files.emplace_back("arithmetic", make_jpeg(image, {.arithmetic = true}));
  for (const auto& [name, bytes] : files) {
    for (const int scale : kScales) {
      const auto whole = decode(bytes, {});
      const auto scaled = decode(bytes, {}, {}, {}, scale);
      ASSERT_TRUE(whole && scaled) << name;
      EXPECT_EQ(Image(*scaled), box_average(whole->view(), scale)) << name << " / " << scale;
      EXPECT_EQ(scaled->whole_height_px, 21) << name;
      EXPECT_EQ(scaled->whole_width_px, 37) << name;
    }
  }
}

TEST(Decode, AScaleOfAJpegIsNearItsBoxesAndOfTheSameSize) {
  for (const auto& [width, height] : {std::pair{64, 48}, {37, 21}, {8, 8}, {9, 1}, {1, 1}}) {
    const Image image = formula_image("tri", width, height);
    for (const Bytes& bytes :
         {make_jpeg(image, {95}), make_jpeg(image, {.progressive = true}),
          make_jpeg(red_of(image), {95}), make_jpeg(image, {.luma_width = 1})}) {
      const auto whole = decode(bytes, {});
      for (const int scale : kScales) {
        std::uint64_t asked_bytes = 0;
        const auto scaled =
            decode(bytes, {}, {[&](std::uint64_t asked) { asked_bytes = asked; }, {}}, {}, scale);
        ASSERT_TRUE(scaled) << width << " x " << height;
        const Image boxes = box_average(whole->view(), scale);
        ASSERT_EQ(scaled->height_px, boxes.height_px);
        ASSERT_EQ(scaled->width_px, boxes.width_px);
        ASSERT_EQ(scaled->channels, boxes.channels);
        EXPECT_EQ(scaled->whole_height_px, height);
        EXPECT_EQ(scaled->whole_width_px, width);
        EXPECT_GE(asked_bytes, boxes.pixels.size());
        double off = 0;
        for (std::size_t i = 0; i < boxes.pixels.size(); ++i) {
          off += std::abs(int{boxes.pixels[i]} - int{scaled->pixels[i]});
        }
        EXPECT_LT(off / static_cast<double>(boxes.pixels.size()), 12)
            << width << " x " << height << " / " << scale;
      }
    }
  }
}

TEST(Decode, AScaleIsRefusedWhereTheWholeIs) {
  const Image image = formula_image("tri", 40, 33);
  for (const Bytes& sound :
       {make_jpeg(image), make_jpeg(image, {.progressive = true}), encode(".png", image)}) {
    for (const int scale : kScales) {
      for (const std::size_t part : {sound.size() / 2, sound.size() - 3}) {
        const auto whole = decode(first(sound, part), {});
        const auto scaled = decode(first(sound, part), {}, {}, {}, scale);
        ASSERT_FALSE(whole) << part;
        ASSERT_FALSE(scaled) << part << " / " << scale;
        EXPECT_EQ(scaled.error().kind, whole.error().kind);
      }
      const auto large = decode(sound, {.max_pixels = 40 * 33 - 1}, {}, {}, scale);
      ASSERT_FALSE(large);
      EXPECT_EQ(large.error().kind, Kind::kTooLarge);
      EXPECT_TRUE(decode(sound, {.max_pixels = 40 * 33}, {}, {}, scale));
    }
  }
}

TEST(Decode, AScaleIsTurnedAsTheWholeIs) {
  for (const JsonReader& row : test::vectors("pipeline/parity", "files")) {
    if (row.at("operation").text() != "orientation") continue;
    const std::string name = row.at("name").text();
    const int height = row.at("height").number<int>();
    const int width = row.at("width").number<int>();
    const auto scaled =
        decode(from_base64(row.at("file").text()), {.orientation = Orientation::kApply}, {}, {}, 2);
    ASSERT_TRUE(scaled) << name;
    EXPECT_EQ(scaled->whole_height_px, height) << name;
    EXPECT_EQ(scaled->whole_width_px, width) << name;
    EXPECT_EQ(scaled->height_px, (height + 1) / 2) << name;
    EXPECT_EQ(scaled->width_px, (width + 1) / 2) << name;
  }
}

TEST(Decode, DamagedOrientationIsNone) {
  const DecodeSettings settings{.orientation = Orientation::kApply};
  for (const JsonReader& row : test::vectors("pipeline/parity", "files")) {
    if (row.at("operation").text() != "orientation") continue;
    const Bytes sound = from_base64(row.at("file").text());
    for (std::size_t at = 0; at < std::min<std::size_t>(sound.size(), 90); ++at) {
      Bytes damaged = sound;
      damaged[at] ^= std::byte{0xFF};
      // With the sanitizer: reads no byte beyond the end
      const auto image = decode(damaged, settings);
      EXPECT_TRUE(!image || image->height_px * image->width_px == 66);
    }
  }
}

std::filesystem::path data_folder() {
  if (const char* folder = std::getenv("WINNOW_TEST_DATA")) return folder;
  return std::filesystem::path(PROJECT_SOURCE_DIR).parent_path() / "shared" / "data";
}

TEST(Decode, PhotosHavePillowsPixels) {
  const auto path = data_folder() / "imagenet-200.tar";
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "there is no " << path << " (set WINNOW_TEST_DATA to its folder)";
  }
  const Bytes tar = read_file(path);
  constexpr std::size_t kBlock = 512;
  int photos = 0;
  uLong crc = crc32(0, nullptr, 0);
  for (std::size_t at = 0; at + kBlock <= tar.size();) {
    const std::string_view head = as_text(first(tar, at + kBlock).subspan(at));
    if (head[0] == '\0') break;
    const std::size_t size = std::stoull(std::string(head.substr(124, 11)), nullptr, 8);
    if (head[156] == '0') {
      const auto image = decode(BytesView(tar).subspan(at + kBlock, size), {});
      ASSERT_TRUE(image) << head.substr(0, 100).data() << ": " << image.error().detail;
      crc = crc32(crc, image->pixels.data(), static_cast<uInt>(image->pixels.size()));
      ++photos;
    }
    at += kBlock + (size + kBlock - 1) / kBlock * kBlock;
  }
  EXPECT_EQ(photos, 200);
  EXPECT_EQ(crc, 0xf72c5491UL);  // all pixels in the order of the archive, by Pillow 9.4
}

TEST(Decode, WhatIsNoImageIsNamedSo) {
  EXPECT_EQ(error_of(as_bytes("This is not a photograph.\n")), Kind::kUnsupported);
  EXPECT_EQ(error_of(as_bytes(std::string_view("\0\0\0\x18"
                                               "ftypheic\0\0\0\0mif1heic",
                                               24))),
            Kind::kUnsupported);
  EXPECT_EQ(error_of(as_bytes("GIF89a\1\1\1\1")), Kind::kUnsupported);
  EXPECT_EQ(error_of(as_bytes(std::string_view("\xFF\xD8\xFF\xD9", 4))), Kind::kCorrupt);
  const auto heic = decode(as_bytes(std::string_view("\0\0\0\x18"
                                                     "ftypheic",
                                                     12)),
                           {});
  ASSERT_FALSE(heic);
  EXPECT_NE(heic.error().detail.find("convert it"), std::string::npos);
}

TEST(Decode, WhatIsKnownButNotReadComesWithAdvice) {
  using namespace std::string_view_literals;
  struct Case {
    std::string_view bytes;
    std::string_view format;
    std::string_view advice;
  };
  const Case cases[] = {{"GIF89a\1\1\1\1"sv, "gif", "ImageMagick"},
                        {"\0\0\0\x18"
                         "ftypheic\0\0\0\0"sv,
                         "heic", "heif-convert"},
                        {"\0\0\0\x18"
                         "ftypmif1\0\0\0\0"sv,
                         "heic", "heif-convert"},
                        {"\0\0\0\x1C"
                         "ftypavif\0\0\0\0"sv,
                         "avif", "avifdec"},
                        {"\xFF\x0A\x7F\x80"sv, "jxl", "djxl"},
                        {"\0\0\0\x0CJXL \r\n\x87\n\0\0"sv, "jxl", "djxl"},
                        {"\0\0\0\x0CjP  \r\n\x87\n\0\0"sv, "jp2", "opj_decompress"},
                        {"\xFF\x4F\xFF\x51\0\x2F"sv, "jp2", "opj_decompress"},
                        {"8BPS\0\1\0\0"sv, "psd", "save it"},
                        {"\x76\x2F\x31\x01\2\0"sv, "exr", "8 bits"}};
  for (const Case& c : cases) {
    EXPECT_EQ(sniff(as_bytes(c.bytes)), c.format);
    const auto image = decode(as_bytes(c.bytes), {});
    ASSERT_FALSE(image) << c.format;
    EXPECT_EQ(image.error().kind, Kind::kUnsupported) << c.format;
    EXPECT_NE(image.error().detail.find(c.advice), std::string::npos) << image.error().detail;
    EXPECT_NE(image.error().detail.find("does not read"), std::string::npos);
  }
}

TEST(Sniff, GoesByTheFirstBytes) {
  const Image image = formula_image("lcg", 5, 5);
  EXPECT_EQ(sniff(make_jpeg(image)), "jpeg");
  EXPECT_EQ(sniff(encode(".png", image)), "png");
  EXPECT_EQ(sniff(encode(".bmp", image)), "bmp");
  EXPECT_EQ(sniff(encode(".webp", image)), "webp");
  EXPECT_EQ(sniff(encode(".tiff", image)), "tiff");
  EXPECT_EQ(sniff(encode(".ppm", image)), "pnm");
  EXPECT_EQ(sniff(as_bytes("GIF87a")), "gif");
  EXPECT_EQ(sniff(as_bytes(std::string_view("\0\0\0\x18"
                                            "ftypavif",
                                            12))),
            "avif");
  EXPECT_EQ(sniff(as_bytes(std::string_view("\0\0\0\x18"
                                            "ftypisom",
                                            12))),
            "unknown");
  EXPECT_EQ(sniff(as_bytes("P7 is no image")), "unknown");
  EXPECT_EQ(sniff({}), "unknown");
}

TEST(Decode, ManyThreadsAgreeWithOne) {
  const Image image = formula_image("tri", 80, 60);
  auto files = lossless_files(image);
  files.emplace_back("jpeg", make_jpeg(image));
  files.emplace_back("progressive", make_jpeg(image, {90, true, 0}));
  std::vector<Image> want;
  for (const auto& [name, bytes] : files) want.push_back(*decode(bytes, {}));
  std::atomic<int> different{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::size_t round = 0; round < 5 * files.size(); ++round) {
        const std::size_t i = round % files.size();
        const auto decoded = decode(files[i].second, {});
        if (!decoded || !(*decoded == want[i])) ++different;
        if (decode(first(files[i].second, files[i].second.size() / 2), {})) ++different;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(different, 0);
}

}  // namespace winnow::pipeline::decode_test

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "pipeline/decode/decode.h"
#include "tests/common/opencv_codecs.h"

namespace winnow::pipeline::bmp_test {

using Kind = DecodeError::Kind;

constexpr int kWidth = 37;
constexpr int kHeight = 23;

struct Made {
  std::uint32_t bits = 24;
  std::uint32_t compression = 0;
  std::uint32_t header_bytes = 40;
  bool top_down = false;
  bool gray_palette = false;
  std::vector<std::uint32_t> masks{};  // R, G, B and optionally A
};

void add(Bytes& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    to.push_back(static_cast<std::byte>(i < 8 ? value >> (8 * i) : 0));
}

// A BMP file with these `pixels`: the lines as stored.
Bytes bmp(const Made& made, const Bytes& pixels) {
  Bytes palette;
  if (made.bits <= 8) {
    std::mt19937 rng(5);
    for (std::uint32_t i = 0; i < 1U << made.bits; ++i) {
      for (int c = 0; c < (made.header_bytes == 12 ? 3 : 4); ++c) {
        add(palette, made.gray_palette ? 255 - i * 3 : rng(), 1);
      }
    }
  }
  Bytes rest;
  add(rest, made.header_bytes, 4);
  const std::uint64_t side_bytes = made.header_bytes == 12 ? 2 : 4;
  add(rest, kWidth, static_cast<int>(side_bytes));
  add(rest, static_cast<std::uint64_t>(made.top_down ? -kHeight : kHeight),
      static_cast<int>(side_bytes));
  add(rest, 1, 2);
  add(rest, made.bits, 2);
  if (made.header_bytes > 12) {
    add(rest, made.compression, 4);
    add(rest, 0, 20);
    for (const std::uint32_t mask : made.masks) add(rest, mask, 4);
    while (rest.size() < made.header_bytes) add(rest, 0, 1);
  }
  rest.insert(rest.end(), palette.begin(), palette.end());
  Bytes all;
  add(all, 'B' | 'M' << 8, 2);
  add(all, 14 + rest.size() + pixels.size(), 4);
  add(all, 0, 4);
  add(all, 14 + rest.size(), 4);
  all.insert(all.end(), rest.begin(), rest.end());
  all.insert(all.end(), pixels.begin(), pixels.end());
  return all;
}

Bytes noise(std::uint32_t bits) {
  std::mt19937 rng(7);
  Bytes bytes((kWidth * bits + 31) / 32 * 4 * kHeight);
  for (std::byte& b : bytes) b = static_cast<std::byte>(rng());
  return bytes;
}

// OpenCV's pixels, in the order R, G, B.
std::vector<std::uint8_t> opencvs_pixels(const Bytes& encoded) {
  const cv::Mat bytes(1, static_cast<int>(encoded.size()), CV_8UC1,
                      const_cast<std::byte*>(encoded.data()));
  const cv::Mat mat = opencv_decode(bytes, cv::IMREAD_COLOR);
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < mat.rows; ++y) {
    for (int x = 0; x < mat.cols; ++x) {
      for (const int c : {2, 1, 0}) pixels.push_back(mat.ptr(y)[3 * x + c]);
    }
  }
  return pixels;
}

std::vector<std::uint8_t> in_colour(const Image& image) {
  if (image.channels == 3) return image.pixels;
  std::vector<std::uint8_t> pixels;
  for (const std::uint8_t p : image.pixels) pixels.insert(pixels.end(), 3, p);
  return pixels;
}

// Run-length data with every way of covering lines in part. Lines have end marks, except for some
// full ones. The last line ends with the picture.
Bytes runs(bool by_halves) {
  std::mt19937 rng(11);
  Bytes bytes;
  for (int line = 0; line < kHeight; ++line) {
    int x = 0;
    bool repeated = false;
    while (x < kWidth && rng() % 8 != 0) {
      const auto count =
          std::min<std::uint64_t>(rng() % 12 + 1, static_cast<std::uint64_t>(kWidth - x));
      repeated = rng() % 2 == 0 || count < 3;
      if (repeated) {
        add(bytes, count | (rng() & 0xFF) << 8, 2);
      } else {
        add(bytes, count << 8, 2);
        const std::uint64_t stored = by_halves ? (count + 1) / 2 : count;
        for (std::uint64_t i = 0; i < (stored + 1) / 2; ++i) add(bytes, rng(), 2);
      }
      x += static_cast<int>(count);
    }
    // Skip three right and two up, which OpenCV cannot read in 4 bits
    if (line == 9 && !by_halves) {
      add(bytes, 0, 2);
      add(bytes, 2 << 8 | std::uint64_t{3} << 16 | std::uint64_t{2} << 24, 4);
      line += 3;
    }
    const bool is_last = line + 1 == kHeight;
    // OpenCV lets a full line end itself, but not in 4 bits.
    const bool ends_by_itself = x == kWidth && repeated && !by_halves && line % 2 == 1;
    if (is_last || !ends_by_itself) add(bytes, is_last ? 1 << 8 : 0, 2);
  }
  return bytes;
}

TEST(Bmp, MakesOpenCvsPixels) {
  std::vector<std::pair<Made, Bytes>> all;
  for (const bool top_down : {false, true}) {
    for (const std::uint32_t bits : {1U, 4U, 8U, 24U, 32U}) {
      for (const bool gray : {false, true}) {
        all.push_back({{.bits = bits, .top_down = top_down, .gray_palette = gray}, noise(bits)});
      }
    }
    all.push_back({{.bits = 8, .compression = 1, .top_down = top_down}, runs(false)});
    all.push_back({{.bits = 4, .compression = 2, .top_down = top_down}, runs(true)});
    all.push_back({{.bits = 32, .compression = 3, .masks = {0xFF0000, 0xFF00, 0xFF}}, noise(32)});
  }
  for (const auto& [made, pixels] : all) {
    const std::string name = std::to_string(made.bits) + " bits, compression " +
                             std::to_string(made.compression) + (made.top_down ? ", top down" : "");
    const Bytes encoded = bmp(made, pixels);
    const auto image = decode(encoded, {});
    ASSERT_TRUE(image) << name << ": " << image.error().detail;
    EXPECT_EQ(image->channels, made.gray_palette && made.bits <= 8 ? 1 : 3) << name;
    EXPECT_EQ(in_colour(*image), opencvs_pixels(encoded)) << name;
  }
}

// OpenCV cannot serve as a reference for skips in 4 bits, so this compares them with 8 bits.
TEST(Bmp, AStepIsTheSameByHalves) {
  const auto image_of = [](const Made& made, std::initializer_list<std::uint64_t> bytes) {
    Bytes pixels;
    for (const std::uint64_t b : bytes) add(pixels, b, 1);
    return decode(bmp(made, pixels), {});
  };
  const auto whole =
      image_of({.bits = 8, .compression = 1}, {2, 7, 0, 2, 3, 2, 4, 9, 0, 3, 1, 2, 3, 0, 0, 1});
  const auto halves = image_of({.bits = 4, .compression = 2},
                               {2, 0x77, 0, 2, 3, 2, 4, 0x99, 0, 3, 0x12, 0x30, 0, 1});
  ASSERT_TRUE(whole && halves);
  EXPECT_EQ(*whole, *halves);
}

// OpenCV is no reference here: it leaves the lowest bits 0, so that white becomes grey, and knows
// only two kinds of masks.
TEST(Bmp, MasksAreScaledToTheirWhite) {
  struct Case {
    Made made;
    std::vector<std::uint32_t> masks;  // R, G, B
  };
  const std::vector<std::uint32_t> by_default{0x7C00, 0x3E0, 0x1F};
  const std::vector<std::uint32_t> of_565{0xF800, 0x7E0, 0x1F};
  const std::vector<std::uint32_t> odd{0x3FF, 0xFFC00, 0x3FF00000};
  for (const Case& c : {Case{{.bits = 16}, by_default},
                        Case{{.bits = 16, .compression = 3, .masks = of_565}, of_565},
                        Case{{.bits = 32, .compression = 3, .masks = odd}, odd}}) {
    const Bytes pixels = noise(c.made.bits);
    const auto image = decode(bmp(c.made, pixels), {});
    ASSERT_TRUE(image) << image.error().detail;
    const std::size_t bytes = c.made.bits / 8;
    const std::size_t line_bytes = (kWidth * c.made.bits + 31) / 32 * 4;
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        const std::size_t at = static_cast<std::size_t>(kHeight - 1 - y) * line_bytes +
                               static_cast<std::size_t>(x) * bytes;
        std::uint32_t pixel = 0;
        for (std::size_t i = bytes; i-- > 0;) {
          pixel = pixel << 8 | std::to_integer<std::uint32_t>(pixels[at + i]);
        }
        for (int ch = 0; ch < 3; ++ch) {
          const std::uint32_t mask = c.masks[static_cast<std::size_t>(ch)];
          const double share = static_cast<double>(pixel & mask) / mask;
          EXPECT_NEAR(image->view().row(y)[3 * x + ch], share * 255, 0.5001);
        }
      }
    }
  }
}

TEST(Bmp, AlphaIsThatOfTheFourthMask) {
  const Made made{.bits = 32,
                  .compression = 3,
                  .header_bytes = 56,
                  .masks = {0xFF0000, 0xFF00, 0xFF, 0xFF000000}};
  const Bytes encoded = bmp(made, noise(32));
  const auto without = decode(encoded, {});
  const auto upon_white = decode(encoded, {.matte = Matte{255, 255, 255}});
  EXPECT_NE(decode(encoded, {}, {.keep_alpha = true})->alpha, Image());
  ASSERT_TRUE(without && upon_white);
  const Bytes pixels = noise(32);
  const std::size_t last_line = pixels.size() - std::size_t{kWidth} * 4;
  for (std::size_t x = 0; x < kWidth; ++x) {
    const auto byte = [&](std::size_t i) {
      return std::to_integer<int>(pixels[last_line + 4 * x + i]);
    };
    for (std::size_t c = 0; c < 3; ++c) {
      const int colour = byte(2 - c);
      EXPECT_EQ(without->pixels[3 * x + c], colour);
      EXPECT_NEAR(upon_white->pixels[3 * x + c],
                  255 + (colour - 255) * static_cast<double>(byte(3)) / 255, 0.51);
    }
  }
}

// A header of OS/2. OpenCV reads its palette as grey.
TEST(Bmp, AnOldHeaderHasAPaletteOfThreeBytes) {
  const Bytes pixels = noise(8);
  const auto old = decode(bmp({.bits = 8, .header_bytes = 12, .gray_palette = true}, pixels), {});
  const auto now = decode(bmp({.bits = 8, .gray_palette = true}, pixels), {});
  ASSERT_TRUE(old && now);
  EXPECT_EQ(*old, *now);
  const auto colour = decode(bmp({.bits = 8, .header_bytes = 12}, pixels), {});
  ASSERT_TRUE(colour);
  EXPECT_EQ(colour->channels, 3);
}

TEST(Bmp, WhatIsCutIsAnError) {
  for (const Made& made :
       {Made{}, Made{.bits = 8, .compression = 1}, Made{.bits = 4, .compression = 2}}) {
    const Bytes whole = bmp(made, made.compression == 0 ? noise(24) : runs(made.bits == 4));
    for (std::size_t bytes = 3; bytes < whole.size(); ++bytes) {
      const auto image = decode(BytesView(whole).first(bytes), {});
      EXPECT_FALSE(image) << bytes << " of " << whole.size() << " bytes";
    }
  }
}

TEST(Bmp, RunsThatLeadOutOfALineAreCorrupt) {
  const auto error_of = [](std::initializer_list<std::uint64_t> bytes) {
    Bytes pixels;
    for (const std::uint64_t b : bytes) add(pixels, b, 1);
    pixels.resize(pixels.size() + 300);
    const auto image = decode(bmp({.bits = 8, .compression = 1}, pixels), {});
    return image ? std::nullopt : std::optional(image.error().kind);
  };
  EXPECT_EQ(error_of({37, 1, 0, 1}), std::nullopt);
  EXPECT_EQ(error_of({37, 1, 37, 2, 0, 1}), std::nullopt);  // a full line ends itself
  EXPECT_EQ(error_of({36, 1, 2, 2}), Kind::kCorrupt);
  EXPECT_EQ(error_of({38, 1, 0, 1}), Kind::kCorrupt);
  EXPECT_EQ(error_of({0, 38}), Kind::kCorrupt);
  EXPECT_EQ(error_of({0, 2, 37, 0, 0, 1}), std::nullopt);
  EXPECT_EQ(error_of({0, 2, 38, 0, 0, 1}), Kind::kCorrupt);
  EXPECT_EQ(error_of({0, 2, 0, 255}), std::nullopt);  // beyond the last line, but nothing follows
}

TEST(Bmp, OtherKindsAreUnsupported) {
  for (const Made& made : {Made{.bits = 2}, Made{.bits = 24, .compression = 4},
                           Made{.bits = 24, .compression = 1}, Made{.bits = 64}}) {
    const auto image = decode(bmp(made, noise(64)), {});
    ASSERT_FALSE(image);
    EXPECT_EQ(image.error().kind, Kind::kUnsupported);
  }
}

}  // namespace winnow::pipeline::bmp_test

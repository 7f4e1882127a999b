#include "common/resample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <string>

#include "common/rng.h"
#include "tests/common/formula_images.h"
#include "tests/common/vectors.h"

namespace winnow::resample_test {

using test::fnv1a;
using test::formula_image;

Image noise(int height, int width, int channels, std::uint64_t seed) {
  CounterRng rng(seed, 0, 0, RandomUse::kTest);
  Image image(height, width, channels);
  for (std::uint8_t& p : image.pixels) p = static_cast<std::uint8_t>(rng.next_u32() >> 24);
  return image;
}

// Oracle: Pillow's algorithm, implemented simply and with the C library's sine.
double filter_value(ResampleFilter filter, double x) {
  x = std::abs(x);
  if (filter == ResampleFilter::kBilinear) return x < 1 ? 1 - x : 0;
  if (x >= 3) return 0;
  if (x == 0) return 1;
  const double a = x * std::numbers::pi;
  return std::sin(a) / a * std::sin(a / 3) / (a / 3);
}

Image slow_resize_rows(const Image& in, double from, double length, int width,
                       ResampleFilter filter) {
  if (width == in.width_px && from == 0 && length == width) return in;
  Image out(in.height_px, width, in.channels);
  const double scale = length / width;
  const double stretch = std::max(scale, 1.0);
  const double support = (filter == ResampleFilter::kBilinear ? 1 : 3) * stretch;
  for (int x = 0; x < width; ++x) {
    const double centre = from + (x + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(centre - support + 0.5));
    const int last = std::min(in.width_px, static_cast<int>(centre + support + 0.5));
    std::vector<double> weights;
    double total = 0;
    for (int i = first; i < last; ++i) {
      weights.push_back(filter_value(filter, (i - centre + 0.5) / stretch));
      total += weights.back();
    }
    for (int y = 0; y < in.height_px; ++y) {
      for (int c = 0; c < in.channels; ++c) {
        std::int64_t sum = 1 << 21;
        for (int i = first; i < last; ++i) {
          const double weight = weights[static_cast<std::size_t>(i - first)] / total;
          const auto at = static_cast<std::size_t>((y * in.width_px + i) * in.channels + c);
          sum += std::llround(weight * (1 << 22)) * in.pixels[at];
        }
        out.pixels[static_cast<std::size_t>((y * width + x) * in.channels + c)] =
            static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum >> 22, 0, 255));
      }
    }
  }
  return out;
}

Image transposed(const Image& in) {
  Image out(in.width_px, in.height_px, in.channels);
  for (int y = 0; y < in.height_px; ++y) {
    for (int x = 0; x < in.width_px; ++x) {
      for (int c = 0; c < in.channels; ++c) {
        out.pixels[static_cast<std::size_t>((x * in.height_px + y) * in.channels + c)] =
            in.pixels[static_cast<std::size_t>((y * in.width_px + x) * in.channels + c)];
      }
    }
  }
  return out;
}

Image slow_resize(const Image& in, const Region& region, int height, int width,
                  ResampleFilter filter) {
  const Image half = slow_resize_rows(in, region.left, region.width, width, filter);
  return transposed(slow_resize_rows(transposed(half), region.top, region.height, height, filter));
}

Image slow_resize(const Image& in, int height, int width, ResampleFilter filter) {
  const Region whole{0, 0, static_cast<double>(in.height_px), static_cast<double>(in.width_px)};
  return slow_resize(in, whole, height, width, filter);
}

// A picture, the size it is resized to, and FNV-1a of the resulting pixels, also of its grey form.
struct Golden {
  std::string kind;
  int width;
  int height;
  int to_width;
  int to_height;
  ResampleFilter filter;
  std::uint64_t rgb;
  std::uint64_t gray;
};

Golden golden_of(const JsonReader& row) {
  static const std::map<std::string, ResampleFilter> filters = {
      {"bilinear", ResampleFilter::kBilinear},
      {"bicubic", ResampleFilter::kBicubic},
      {"lanczos", ResampleFilter::kLanczos}};
  return {row.at("picture").text(),          row.at("width").number<int>(),
          row.at("height").number<int>(),    row.at("to_width").number<int>(),
          row.at("to_height").number<int>(), filters.at(row.at("filter").text()),
          test::hash_of(row.at("rgb")),      test::hash_of(row.at("gray"))};
}

TEST(Resample, MakesPillowsBytes) {
  for (const JsonReader& row : test::vectors("common/resample", "whole")) {
    const Golden g = golden_of(row);
    const Image image = formula_image(g.kind, g.width, g.height);
    const std::string what =
        g.kind + " to " + std::to_string(g.to_width) + "x" + std::to_string(g.to_height);
    EXPECT_EQ(fnv1a(resize(image.view(), g.to_height, g.to_width, g.filter).pixels), g.rgb) << what;
    const Image gray = to_gray(image.view());
    EXPECT_EQ(fnv1a(resize(gray.view(), g.to_height, g.to_width, g.filter).pixels), g.gray) << what;
  }
}

TEST(Resample, MakesPillowsBytesOfRegions) {
  for (const JsonReader& row : test::vectors("common/resample", "regions")) {
    const Golden g = golden_of(row);
    const JsonReader part = row.at("region");
    const Region region = {part.at("top").real(), part.at("left").real(), part.at("height").real(),
                           part.at("width").real()};
    const Image image = formula_image(g.kind, g.width, g.height);
    const auto hash_of = [&](const Image& in) {
      return fnv1a(resize(in.view(), region, g.to_height, g.to_width, g.filter).pixels);
    };
    const std::string what = g.kind + " from " + std::to_string(region.left) + "," +
                             std::to_string(region.top) + " to " + std::to_string(g.to_width) +
                             "x" + std::to_string(g.to_height);
    EXPECT_EQ(hash_of(image), g.rgb) << what;
    EXPECT_EQ(hash_of(to_gray(image.view())), g.gray) << what;
  }
}

TEST(Resample, RegionsMatchASlowOracle) {
  CounterRng rng(3, 0, 0, RandomUse::kTest);
  const auto below = [&](int most) { return static_cast<int>(rng.below(most)); };
  for (std::uint64_t round = 0; round < 200; ++round) {
    const Image image = noise(1 + below(60), 1 + below(60), round % 3 == 0 ? 1 : 3, round);
    const auto part = [&](int side, double& from, double& length) {  // in eighths
      const int begin = round % 4 == 0 ? 0 : below(8 * side);
      from = begin / 8.0;
      length = (1 + below(8 * side - begin)) / 8.0;
    };
    Region region;
    part(image.height_px, region.top, region.height);
    part(image.width_px, region.left, region.width);
    const int height = 1 + below(50);
    const int width = 1 + below(50);
    const auto filter = round % 2 == 0 ? ResampleFilter::kLanczos : ResampleFilter::kBilinear;
    ASSERT_EQ(resize(image.view(), region, height, width, filter),
              slow_resize(image, region, height, width, filter))
        << image.height_px << "x" << image.width_px << " to " << height << "x" << width << ", "
        << round;
  }
}

TEST(Resample, GrayIsPillowsLuma) {
  const auto gray_of = [](const char* kind) {
    return fnv1a(to_gray(formula_image(kind, 97, 61).view()).pixels);
  };
  EXPECT_EQ(gray_of("ramp"), 0x8e442db9c7fe26ed);
  EXPECT_EQ(gray_of("lcg"), 0xc7b0f5865189973c);
  EXPECT_EQ(gray_of("blob"), 0x5b1a1af5950e62ed);
  EXPECT_EQ(gray_of("tri"), 0x5f212ab4ccb9c7b4);
}

TEST(Resample, MatchesASlowOracleAtRandomSizes) {
  CounterRng rng(1, 0, 0, RandomUse::kTest);
  const auto side = [&](int most) { return 1 + static_cast<int>(rng.below(most)); };
  for (std::uint64_t round = 0; round < 300; ++round) {
    const int most = round % 2 == 0 ? 12 : 90;
    const int channels = round % 3 == 0 ? 1 : 3;
    const Image image = noise(side(most), side(most), channels, round);
    const int height = round % 5 == 0 ? image.height_px : side(most);
    const int width = round % 7 == 0 ? image.width_px : side(most);
    const auto filter = round % 4 < 2 ? ResampleFilter::kLanczos : ResampleFilter::kBilinear;
    ASSERT_EQ(resize(image.view(), height, width, filter),
              slow_resize(image, height, width, filter))
        << image.height_px << "x" << image.width_px << "x" << channels << " to " << height << "x"
        << width;
  }
}

Image mirrored(Image image) {
  const auto pixel = [&](int y, int x) {
    return image.pixels.begin() + (y * image.width_px + x) * image.channels;
  };
  for (int y = 0; y < image.height_px; ++y) {
    for (int left = 0, right = image.width_px - 1; left < right; ++left, --right) {
      std::swap_ranges(pixel(y, left), pixel(y, left) + image.channels, pixel(y, right));
    }
  }
  return image;
}

TEST(Resample, WritesRowsEitherWayAndNothingBeside) {
  CounterRng rng(11, 0, 0, RandomUse::kTest);
  const auto side = [&](int most) { return 1 + static_cast<int>(rng.below(most)); };
  for (std::uint64_t round = 0; round < 300; ++round) {
    const Image image = noise(side(60), side(60), round % 3 == 0 ? 1 : 3, round);
    const int height = round % 5 == 0 ? image.height_px : side(60);
    const int width = round % 7 == 0 ? image.width_px : side(60);
    const auto filter = round % 2 == 0 ? ResampleFilter::kBicubic : ResampleFilter::kBilinear;
    for (const bool is_mirrored : {false, true}) {
      Image want = resize(image.view(), height, width, filter);
      if (is_mirrored) want = mirrored(std::move(want));
      constexpr std::uint8_t kBeside = 0xA5;
      want.pixels.push_back(kBeside);
      std::vector<std::uint8_t> out(want.pixels.size(), kBeside);
      resize(image.view(), height, width, filter, is_mirrored, out.data());
      ASSERT_EQ(out, want.pixels) << image.height_px << "x" << image.width_px << " to " << height
                                  << "x" << width << (is_mirrored ? ", mirrored" : "");
    }
  }
}

TEST(Resample, RowsMayBePadded) {
  const Image whole = noise(40, 50, 3, 9);
  const ImageView part{whole.view().row(3) + 3 * 5, 30, 20, 3, whole.view().row_stride_bytes};
  Image copy(30, 20, 3);
  for (int y = 0; y < 30; ++y) std::copy_n(part.row(y), 60, copy.pixels.begin() + y * 60);
  for (const auto filter : {ResampleFilter::kBilinear, ResampleFilter::kLanczos}) {
    EXPECT_EQ(resize(part, 7, 33, filter), resize(copy.view(), 7, 33, filter));
    EXPECT_EQ(resize(part, 30, 20, filter), copy);
  }
  EXPECT_EQ(to_gray(part), to_gray(copy.view()));
}

// The last pixel of the last row lies at the end of the allocation, so the address sanitizer
// detects a read beyond it.
TEST(Resample, ReadsNothingBeyondTheImage) {
  for (int width = 1; width < 20; ++width) {
    for (const int channels : {1, 3}) {
      const Image image = noise(2, width, channels, 3);
      const Image wide = resize(image.view(), 2, 21, ResampleFilter::kLanczos);
      EXPECT_EQ(wide, slow_resize(image, 2, 21, ResampleFilter::kLanczos));
    }
  }
}

TEST(Resample, FlatStaysFlat) {
  for (const int value : {0, 1, 127, 254, 255}) {
    Image flat(23, 31, 3);
    std::fill(flat.pixels.begin(), flat.pixels.end(), static_cast<std::uint8_t>(value));
    for (const auto filter : {ResampleFilter::kBilinear, ResampleFilter::kLanczos}) {
      const Image out = resize(flat.view(), 50, 8, filter);
      EXPECT_EQ(std::count(out.pixels.begin(), out.pixels.end(), value), 50 * 8 * 3);
    }
    const Image gray = to_gray(flat.view());
    EXPECT_EQ(std::count(gray.pixels.begin(), gray.pixels.end(), value), 23 * 31);
  }
}

TEST(Resample, LongRowsMatchTheSlowOracle) {
  for (const int channels : {1, 3}) {
    const Image image = noise(5, 7001, channels, 4);
    for (const auto filter : {ResampleFilter::kBilinear, ResampleFilter::kLanczos}) {
      for (const int width : {1, 3, 9, 640}) {
        EXPECT_EQ(resize(image.view(), 5, width, filter), slow_resize(image, 5, width, filter));
      }
    }
  }
}

TEST(Resample, RowsMayComeAFewAtATime) {
  CounterRng rng(7, 0, 0, RandomUse::kTest);
  for (std::uint64_t round = 0; round < 60; ++round) {
    const int channels = round % 2 == 0 ? 1 : 3;
    const Image image = noise(1 + static_cast<int>(rng.below(50)),
                              1 + static_cast<int>(rng.below(70)), channels, round);
    const int height = round % 5 == 0 ? image.height_px : 9;
    const int width = round % 3 == 0 ? image.width_px : 20;
    RowResizer resizer({image.height_px, image.width_px, channels, height, width},
                       ResampleFilter::kLanczos);
    for (int y = 0; y < image.height_px;) {
      const int count = std::min(image.height_px - y, 1 + static_cast<int>(rng.below(9)));
      ImageView rows = image.view();
      rows.data = rows.row(y);
      rows.height_px = count;
      resizer.add(rows);
      y += count;
    }
    EXPECT_EQ(resizer.finish(), resize(image.view(), height, width, ResampleFilter::kLanczos));
  }
}

}  // namespace winnow::resample_test

// Pixels equal to Pillow's, compared by hashes of what torchvision's functions make from PIL
// images.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "pipeline/augment/ops/colour.h"
#include "pipeline/augment/ops/geometry.h"
#include "places.h"
#include "tests/common/vectors.h"
#include "tests/pipeline/golden_pictures.h"
#include "tests/pipeline/parity_table.h"

namespace winnow::pipeline::ops_test {

// An operation, its argument, and the picture.
struct Golden {
  std::string operation;
  double argument;
  std::string picture;
  int width;
  int height;
  int channels;
};

Golden golden_of(const JsonReader& row) {
  return {row.at("operation").text(),     row.at("argument").real(),
          row.at("picture").text(),       row.at("width").number<int>(),
          row.at("height").number<int>(), row.at("channels").number<int>()};
}

Image picture(const Golden& golden) {
  return test::golden_picture(golden.picture, golden.width, golden.height, golden.channels);
}

Image result_of(const Golden& golden) {
  Image image = picture(golden);
  const PixelSpan pixels = test::span_of(image);
  std::string name = golden.operation;
  const double argument = golden.argument;
  std::vector<std::uint8_t> scratch;
  if (name == "brightness") return adjust_brightness(pixels, argument), image;
  if (name == "contrast") return adjust_contrast(pixels, argument), image;
  if (name == "saturation") return adjust_saturation(pixels, argument, scratch), image;
  if (name == "sharpness") return adjust_sharpness(pixels, argument, scratch), image;
  if (name == "hue") return adjust_hue(pixels, argument), image;
  if (name == "posterize") return posterize(pixels, static_cast<int>(argument)), image;
  if (name == "solarize") return solarize(pixels, argument), image;
  if (name == "invert") return invert(pixels), image;
  if (name == "autocontrast") return autocontrast(pixels), image;
  if (name == "equalize") return equalize(pixels), image;
  if (name == "flip") return flip_horizontally(pixels), image;

  const auto interpolation =
      name.ends_with("bilinear") ? Interpolation::kBilinear : Interpolation::kNearest;
  name = name.substr(0, name.rfind(' '));
  Image out(image.height_px, image.width_px, image.channels);
  std::fill(out.pixels.begin(), out.pixels.end(), std::uint8_t{0xA5});
  const PixelSpan to = test::span_of(out);
  const int whole = static_cast<int>(argument);
  if (name == "rotate") {
    rotate(image.view(), argument, interpolation, to);
  } else {
    const Affine affine = name == "shear x"       ? shear_x(argument)
                          : name == "shear y"     ? shear_y(argument)
                          : name == "translate x" ? translation(whole, 0)
                                                  : translation(0, whole);
    transform(image.view(), affine, interpolation, to);
  }
  return out;
}

void add_hashed(test::Differences& differences) {
  for (const JsonReader& row : test::vectors("pipeline/ops", "hashed")) {
    const Golden golden = golden_of(row);
    const Image out = result_of(golden);
    EXPECT_EQ(test::fnv1a(out.pixels), test::hash_of(row.at("hash")))
        << golden.operation << " " << golden.argument << " of " << golden.picture << " "
        << golden.width << "x" << golden.height << "x" << golden.channels;
    test::Difference& d = differences[golden.operation];
    ++d.vectors;
    d.values += static_cast<double>(out.pixels.size());
  }
}

// For a shear of exactly one half, torchvision's tan(atan(0.5)) is slightly less. Values halfway
// between two levels are then truncated to the lower one.
void add_where_a_shear_is_rounded(test::Differences& differences) {
  for (const JsonReader& row : test::vectors("pipeline/ops", "pixels")) {
    const Golden golden = golden_of(row);
    const Image out = result_of(golden);
    const std::string want = row.at("pixels").text();
    ASSERT_EQ(want.size(), out.pixels.size() * 2);
    test::Difference& d = differences[golden.operation];
    ++d.vectors;
    for (std::size_t i = 0; i < out.pixels.size(); ++i) {
      const int level = std::stoi(want.substr(2 * i, 2), nullptr, 16);
      d.largest = std::max(d.largest, std::abs(level - out.pixels[i]) * 1.0);
      d.differing += level != out.pixels[i];
    }
    d.values += static_cast<double>(out.pixels.size());
  }
}

TEST(Operations, GivePillowsPixelsAsTheDocsSay) {
  test::Differences differences;
  add_hashed(differences);
  EXPECT_EQ(differences.size(), 21U);
  add_where_a_shear_is_rounded(differences);
  int vectors = 0;
  for (const auto& [name, d] : differences) {
    EXPECT_EQ(d.largest, name == "shear x bilinear" ? 1 : 0) << name;
    vectors += d.vectors;
  }
  EXPECT_EQ(vectors, 1925);
  std::erase_if(differences, [](const auto& row) { return row.second.largest == 0; });
  test::expect_stated(differences, WINNOW_DOCS "/augment.md",
                      "Operations beside torchvision's functions");
}

TEST(Operations, EraseFillsWhatLiesInside) {
  for (const int channels : {1, 3}) {
    for (const Box box : {Box{1, 2, 3, 4}, Box{-2, -1, 4, 3}, Box{3, 5, 9, 9}, Box{0, 0, 6, 8},
                          Box{6, 8, 2, 2}, Box{-5, 0, 5, 8}}) {
      Image image(6, 8, channels);
      Image want = image;
      for (int y = 0; y < 6; ++y) {
        for (int x = 0; x < 8; ++x) {
          const bool inside = y >= box.top && y < box.top + box.height_px && x >= box.left &&
                              x < box.left + box.width_px;
          for (int c = 0; inside && c < channels; ++c) {
            want.pixels[static_cast<std::size_t>((y * 8 + x) * channels + c)] =
                static_cast<std::uint8_t>(10 + c);
          }
        }
      }
      erase(test::span_of(image), box, {10, 11, 12});
      EXPECT_EQ(image, want) << box.top << " " << box.left;
    }
  }
}

}  // namespace winnow::pipeline::ops_test

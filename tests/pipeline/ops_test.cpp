// Pixels equal to those of Pillow, by hashes of what torchvision's functions make of PIL images.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "common/resample.h"
#include "pipeline/augment/ops/colour.h"
#include "pipeline/augment/ops/geometry.h"
#include "tests/common/formula_images.h"
#include "tests/pipeline/ops_golden.h"

namespace winnow::pipeline {
namespace {

Image picture(const test::OpsGolden& golden) {
  const std::string kind = golden.picture;
  Image image(golden.height, golden.width, 3);
  if (kind == "lattice") {  // all colours in steps of 5
    std::uint8_t* to = image.pixels.data();
    for (int r = 0; r < 256; r += 5) {
      for (int g = 0; g < 256; g += 5) {
        for (int b = 0; b < 256; b += 5) {
          for (const int value : {r, g, b}) *to++ = static_cast<std::uint8_t>(value);
        }
      }
    }
  } else if (kind == "flat") {
    for (std::size_t i = 0; i < image.pixels.size(); i += 3) {
      image.pixels[i] = 7;
      image.pixels[i + 1] = 80;
      image.pixels[i + 2] = 255;
    }
  } else {
    image = test::formula_image(kind == "lcg" ? "lcg" : "tri", golden.width, golden.height);
    if (kind == "dim") {
      for (std::uint8_t& value : image.pixels) value = static_cast<std::uint8_t>(60 + value / 4);
    }
  }
  return golden.channels == 1 ? to_gray(image.view()) : image;
}

std::uint64_t fnv1a(const std::vector<std::uint8_t>& bytes) {
  std::uint64_t state = 0xcbf29ce484222325;
  for (const std::uint8_t byte : bytes) state = (state ^ byte) * 0x100000001b3;
  return state;
}

PixelSpan span_of(Image& image) {
  return {image.pixels.data(), image.height_px, image.width_px, image.channels};
}

Image result_of(const test::OpsGolden& golden) {
  Image image = picture(golden);
  const PixelSpan pixels = span_of(image);
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
  const PixelSpan to = span_of(out);
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

TEST(Operations, GivePillowsPixels) {
  std::map<std::string, int> counts;
  for (const test::OpsGolden& golden : test::kOpsGolden) {
    EXPECT_EQ(fnv1a(result_of(golden).pixels), golden.hash)
        << golden.operation << " " << golden.argument << " of " << golden.picture << " "
        << golden.width << "x" << golden.height << "x" << golden.channels;
    ++counts[golden.operation];
  }
  EXPECT_EQ(counts.size(), 21U);
}

// A shear of exactly one half: torchvision's tan(atan(0.5)) is a bit less, so that what lies
// halfway between two levels is truncated to the lower.
TEST(Operations, StayWithinOneLevelWhereAShearIsRounded) {
  int differing = 0;
  for (const test::OpsPixels& vector : test::kOpsPixels) {
    const Image out = result_of(vector.golden);
    const std::string_view want = vector.pixels;
    ASSERT_EQ(want.size(), out.pixels.size() * 2);
    for (std::size_t i = 0; i < out.pixels.size(); ++i) {
      const int level = std::stoi(std::string(want.substr(2 * i, 2)), nullptr, 16);
      EXPECT_LE(std::abs(level - out.pixels[i]), 1);
      differing += level != out.pixels[i];
    }
  }
  RecordProperty("differing pixels", differing);
  EXPECT_GT(differing, 0) << "hash these vectors as the others";
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
      erase(span_of(image), box, {10, 11, 12});
      EXPECT_EQ(image, want) << box.top << " " << box.left;
    }
  }
}

}  // namespace
}  // namespace winnow::pipeline

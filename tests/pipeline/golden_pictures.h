#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/resample.h"
#include "pipeline/augment/ops/pixels.h"
#include "tests/common/formula_images.h"

namespace winnow::test {

// The pictures of make_pictures.py.
inline Image golden_picture(std::string_view kind, int width, int height, int channels) {
  Image image(height, width, 3);
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
    image = formula_image(kind == "lcg" ? "lcg" : "tri", width, height);
    if (kind == "dim") {
      for (std::uint8_t& value : image.pixels) value = static_cast<std::uint8_t>(60 + value / 4);
    }
  }
  return channels == 1 ? to_gray(image.view()) : image;
}

inline std::uint64_t fnv1a(const std::vector<std::uint8_t>& bytes) {
  std::uint64_t state = 0xcbf29ce484222325;
  for (const std::uint8_t byte : bytes) state = (state ^ byte) * 0x100000001b3;
  return state;
}

inline pipeline::PixelSpan span_of(Image& image) {
  return {image.pixels.data(), image.height_px, image.width_px, image.channels};
}

}  // namespace winnow::test

#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include "dedup/verify/affine.h"
#include "dedup/verify/landmark_table.h"
#include "dedup/verify/plane.h"
#include "tests/dedup/scenes.h"

// Typical edits of pictures, applied to scenes.
namespace winnow::dedup {

constexpr double kDegree = std::numbers::pi / 180;

// A picture whose pixel (x, y) is that of `image` at map(x, y). Pixels from beyond its border are
// `outside`.
inline Image seen_through(const Image& image, const Affine& map, int width, int height,
                          std::uint8_t outside = 0) {
  const Plane plane = plane_of(image.view());
  const double enlarged = static_cast<double>(plane.width) / image.width_px;
  Image out(height, width, 1);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const double from_x = map.x_of(x, y);
      const double from_y = map.y_of(x, y);
      const bool is_inside = from_x > -0.5 && from_y > -0.5 && from_x < image.width_px - 0.5 &&
                             from_y < image.height_px - 0.5;
      const float value = sample(plane, static_cast<float>((from_x + 0.5) * enlarged - 0.5),
                                 static_cast<float>((from_y + 0.5) * enlarged - 0.5));
      out.pixels[static_cast<std::size_t>(y * width + x)] =
          is_inside ? static_cast<std::uint8_t>(std::lround(value)) : outside;
    }
  }
  return out;
}

// A part of a picture, scaled to the size of the whole.
inline Image cropped(const Image& image, double left, double top, double share) {
  return seen_through(image,
                      {.xx = share,
                       .x0 = left * (1 - share) * image.width_px,
                       .yy = share,
                       .y0 = top * (1 - share) * image.height_px},
                      image.width_px, image.height_px);
}

inline Image turned(const Image& image, double degrees) {
  const double cosine = std::cos(degrees * kDegree);
  const double sine = std::sin(degrees * kDegree);
  const double x = (image.width_px - 1) / 2.0;
  const double y = (image.height_px - 1) / 2.0;
  return seen_through(image,
                      {.xx = cosine,
                       .xy = -sine,
                       .x0 = x - cosine * x + sine * y,
                       .yx = sine,
                       .yy = cosine,
                       .y0 = y - sine * x - cosine * y},
                      image.width_px, image.height_px);
}

inline Image flipped(const Image& image) {
  return seen_through(image, {.xx = -1, .x0 = image.width_px - 1.0}, image.width_px,
                      image.height_px);
}

inline Image framed(const Image& image, int before, int beside, std::uint8_t shade) {
  return seen_through(image, {.x0 = -1.0 * beside, .y0 = -1.0 * before},
                      image.width_px + 2 * beside, image.height_px + 2 * before, shade);
}

inline Image covered(Image image, int left, int top, int width, int height) {
  for (int y = top; y < top + height; ++y) {
    for (int x = left; x < left + width; ++x) {
      image.pixels[static_cast<std::size_t>(y * image.width_px + x)] = 240;
    }
  }
  return image;
}

inline Image darker(Image image) {
  for (std::uint8_t& pixel : image.pixels) {
    pixel = static_cast<std::uint8_t>(std::lround(255 * std::pow(pixel / 255.0, 1.6)));
  }
  return image;
}

inline std::vector<Image> edits_of(const Image& image) {
  const int width = image.width_px;
  const int height = image.height_px;
  return {cropped(image, 0.2, 0.9, 0.75),
          cropped(image, 0.8, 0.3, 0.65),
          turned(image, 8),
          flipped(image),
          framed(image, 14, 0, 0),
          framed(image, 8, 8, 255),
          covered(image, width / 5, height / 4, width * 2 / 5, height / 2),
          darker(image),
          flipped(cropped(image, 0.5, 0.5, 0.8)),
          framed(cropped(image, 0.1, 0.1, 0.8), 20, 0, 16)};
}

// Scenes 0 .. count-1, each followed by its edits.
struct Pictures {
  explicit Pictures(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      images.push_back(scene(100 + i));
      scene_of.push_back(i);
      for (Image& edit : edits_of(images.back())) {
        images.push_back(std::move(edit));
        scene_of.push_back(i);
      }
    }
    rows.resize(images.size());
    std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  }
  PictureSource source() const {
    return [this](std::uint32_t row) { return images[row]; };
  }

  std::vector<Image> images;
  std::vector<std::uint32_t> scene_of;
  std::vector<std::uint32_t> rows;
};

}  // namespace winnow::dedup

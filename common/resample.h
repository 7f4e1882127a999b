#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "common/image.h"

namespace winnow {

// Resizing of images. Own code, because hashes and training need Pillow's pixels bit for bit:
// OpenCV's resize() gives others, and Pillow is no C library.

enum class ResampleFilter { kBilinear, kBicubic, kLanczos };  // named as in Pillow

// Resizes an image with exactly the result of Pillow's Image.resize for 8-bit images: antialiased
// (the filter's support grows with the scale), horizontal pass first, 8 bits in between,
// fixed-point weights of 22 bits. An axis that keeps its size is skipped.
// In, out  Any size >= 1x1, with 1 or 3 channels.
Image resize(ImageView image, int height_px, int width_px, ResampleFilter filter);

// Resizes into `out`, whose rows have no padding. `mirrored`: each row is reversed, left to right.
void resize(ImageView image, int height_px, int width_px, ResampleFilter filter, bool mirrored,
            std::uint8_t* out);

// The new length of a side if the longer side of its image becomes `to_px`; at least 1.
inline int side_where_longer_is(int to_px, int side_px, int longer_px) noexcept {
  return std::max(1, static_cast<int>(std::int64_t{side_px} * to_px / longer_px));
}

// A part of an image in pixels. Its borders may lie within pixels, at fractions.
struct Region {
  double top = 0;
  double left = 0;
  double height = 0;
  double width = 0;
};

// Resizes a part of an image with exactly the result of Pillow's Image.resize(box=...), which keeps
// 24 bits of each number. Pixels around the part count if the filter reaches them. The part must be
// non-empty and lie in the image.
Image resize(ImageView image, const Region& region, int height_px, int width_px,
             ResampleFilter filter);

// Converts RGB to gray as Pillow's convert("L") does: (19595 R + 38470 G + 7471 B + 32768) >> 16. A
// gray image is unchanged.
Image to_gray(ImageView image);
void to_gray(ImageView image, std::uint8_t* out);  // rows without padding

// A cache of filter weights, for images of repeated sizes: at most 1 MiB, oldest dropped first. Not
// thread-safe.
class ResampleWeights {
 public:
  ResampleWeights();
  ResampleWeights(ResampleWeights&&) noexcept;
  ResampleWeights& operator=(ResampleWeights&&) noexcept;
  ~ResampleWeights();

 private:
  friend class RowResizer;
  struct State;
  std::unique_ptr<State> state_;
};

// resize() for an image whose rows arrive a few at a time, so that only these rows must be in the
// processor's cache. Not thread-safe.
// weights  May be null, else it must outlive this object.
class RowResizer {
 public:
  struct Sizes {
    int height_px;  // height of the source image
    int width_px;
    int channels;
    int to_height_px;
    int to_width_px;
    std::optional<Region> region = {};  // part to resize; nullopt: the whole image
  };
  RowResizer(const Sizes& sizes, ResampleFilter filter, ResampleWeights* weights = nullptr);
  RowResizer(RowResizer&&) noexcept;
  ~RowResizer();

  void add(ImageView rows);  // takes the next rows from the top, at full width
  Image finish();            // returns the result; call it after the last row was added

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "common/image.h"

namespace winnow {

// Why not OpenCV: its resize() has other pixels. Hashes and training want Pillow's, bit for bit,
// and Pillow is no C library.

enum class ResampleFilter { kBilinear, kBicubic, kLanczos };  // as Pillow calls them

// Resizes exactly as Pillow's Image.resize does on 8-bit images: antialiased (the filter's support
// grows with the scale), horizontal pass first, 8-bit in between, fixed-point weights of 22 bits;
// an axis that keeps its size is skipped. Any size >= 1x1 to any size >= 1x1, 1 or 3 channels.
Image resize(ImageView image, int height_px, int width_px, ResampleFilter filter);

// The same into `out`, rows without padding; each from right to left where `mirrored`.
void resize(ImageView image, int height_px, int width_px, ResampleFilter filter, bool mirrored,
            std::uint8_t* out);

// What a side becomes where the longer one of its image becomes `to_px`: 1 at least.
inline int side_where_longer_is(int to_px, int side_px, int longer_px) noexcept {
  return std::max(1, static_cast<int>(std::int64_t{side_px} * to_px / longer_px));
}

// A part of an image, in its pixels; its borders may lie within some.
struct Region {
  double top = 0;
  double left = 0;
  double height = 0;
  double width = 0;
};

// Resizes a part as Image.resize(box=...) does, of which Pillow keeps 24 bits of each number:
// pixels of the image around it count where the filter reaches them. A region of more than nothing
// that lies in the image.
Image resize(ImageView image, const Region& region, int height_px, int width_px,
             ResampleFilter filter);

// Luma as Pillow's convert("L"): (19595 R + 38470 G + 7471 B + 32768) >> 16. Gray stays as it is.
Image to_gray(ImageView image);
void to_gray(ImageView image, std::uint8_t* out);  // rows without padding

// Weights of the filters, kept for images of sizes that come again: at most 1 MiB of them, the
// oldest go first. For one thread.
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

// resize() of an image whose rows come a few at a time: only those that are worked on have to be in
// the processor's cache. For one thread. `weights`, which outlives it, may be null.
class RowResizer {
 public:
  struct Sizes {
    int height_px;  // of the image that comes
    int width_px;
    int channels;
    int to_height_px;
    int to_width_px;
    std::optional<Region> region = {};  // that is resized; none: all of it
  };
  RowResizer(const Sizes& sizes, ResampleFilter filter, ResampleWeights* weights = nullptr);
  RowResizer(RowResizer&&) noexcept;
  ~RowResizer();

  void add(ImageView rows);  // the next from the top, of the whole width
  Image finish();            // once all are there

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow

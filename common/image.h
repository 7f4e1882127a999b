#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace winnow {

// A view of 8-bit pixels, interleaved HWC, with 1 (gray) or 3 (R, G, B) channels. Borrowed: the
// pixels must outlive it. Rows may be padded.
struct ImageView {
  const std::uint8_t* data = nullptr;
  int height_px = 0;
  int width_px = 0;
  int channels = 0;
  std::ptrdiff_t row_stride_bytes = 0;  // >= width_px * channels

  const std::uint8_t* row(int y) const noexcept { return data + y * row_stride_bytes; }
};

// A rectangular part of an image, in whole pixels.
struct Box {
  int top = 0;
  int left = 0;
  int height_px = 0;
  int width_px = 0;

  friend bool operator==(const Box&, const Box&) = default;
};

// The view of a part of an image. The box must lie in the image.
inline ImageView part_of(const ImageView& image, const Box& box) noexcept {
  return {image.row(box.top) + std::ptrdiff_t{box.left} * image.channels, box.height_px,
          box.width_px, image.channels, image.row_stride_bytes};
}

// An image that owns its pixels: 8 bits, interleaved HWC, rows without padding.
struct Image {
  std::vector<std::uint8_t> pixels;  // height_px * width_px * channels
  int height_px = 0;
  int width_px = 0;
  int channels = 0;

  Image() = default;
  Image(int height, int width, int channel_count)
      : pixels(static_cast<std::size_t>(height) * static_cast<std::size_t>(width) *
               static_cast<std::size_t>(channel_count)),
        height_px(height),
        width_px(width),
        channels(channel_count) {}

  // Changes the size of the image. Reuses its memory if that is large enough, because fresh pages
  // cost more than decoding into them. Pixel values are unspecified afterwards.
  void reshape(int height, int width, int channel_count) {
    const std::size_t size = static_cast<std::size_t>(height) * static_cast<std::size_t>(width) *
                             static_cast<std::size_t>(channel_count);
    if (size > pixels.capacity()) pixels = {};
    pixels.resize(size);
    height_px = height;
    width_px = width;
    channels = channel_count;
  }

  ImageView view() const noexcept {
    return {pixels.data(), height_px, width_px, channels,
            static_cast<std::ptrdiff_t>(width_px) * channels};
  }
  friend bool operator==(const Image&, const Image&) = default;
};

}  // namespace winnow

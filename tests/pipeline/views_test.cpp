#include "pipeline/load/views.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/error.h"
#include "common/rng.h"

namespace winnow::pipeline::views_test {

Batch random_batch(std::size_t images, int height, int width, int channels) {
  CounterRng rng(1, 0, 0, RandomUse::kTest);
  Batch batch;
  batch.height_px = height;
  batch.width_px = width;
  batch.channels = channels;
  batch.ids.resize(images);
  batch.pixels.resize(images * static_cast<std::size_t>(height * width * channels));
  for (std::uint8_t& pixel : batch.pixels) pixel = static_cast<std::uint8_t>(rng.below(256));
  return batch;
}

std::vector<std::uint8_t> shown(const Batch& batch, const View& view) {
  std::vector<std::uint8_t> pixels(batch.pixels.size());
  show(batch, view, pixels);
  return pixels;
}

// One image, padded on each side by one pixel of the border.
std::vector<int> padded(const Batch& batch, std::size_t image) {
  const int h = batch.height_px;
  const int w = batch.width_px;
  const int c = batch.channels;
  std::vector<int> out;
  for (int y = -1; y <= h; ++y) {
    for (int x = -1; x <= w; ++x) {
      const int from_y = y == -1 ? 1 : y == h ? h - 2 : y;
      const int from_x = x == -1 ? 1 : x == w ? w - 2 : x;
      for (int k = 0; k < c; ++k) {
        out.push_back(batch.pixels[image * static_cast<std::size_t>(h * w * c) +
                                   static_cast<std::size_t>((from_y * w + from_x) * c + k)]);
      }
    }
  }
  return out;
}

TEST(Views, ArePartsOfThePaddedImage) {
  for (const int channels : {1, 3}) {
    const Batch batch = random_batch(3, 5, 7, channels);
    for (const int top : {-1, 0, 1}) {
      for (const int left : {-1, 0, 1}) {
        for (const bool mirrored : {false, true}) {
          const auto found = shown(batch, {top, left, mirrored});
          std::vector<std::uint8_t> wanted;
          for (std::size_t i = 0; i < batch.size(); ++i) {
            const std::vector<int> image = padded(batch, i);
            for (int y = 0; y < 5; ++y) {
              for (int x = 0; x < 7; ++x) {
                const int column = (mirrored ? 6 - x : x) + left + 1;
                for (int k = 0; k < channels; ++k) {
                  const int at = ((y + top + 1) * 9 + column) * channels + k;
                  wanted.push_back(static_cast<std::uint8_t>(image[static_cast<std::size_t>(at)]));
                }
              }
            }
          }
          EXPECT_EQ(found, wanted) << channels << " " << top << " " << left << " " << mirrored;
        }
      }
    }
  }
}

TEST(Views, TheMirrorImageOfTheMirrorImageIsTheImage) {
  const Batch batch = random_batch(2, 4, 6, 3);
  EXPECT_EQ(shown(batch, {}), batch.pixels);
  Batch mirrored = batch;
  mirrored.pixels = shown(batch, {0, 0, true});
  EXPECT_NE(mirrored.pixels, batch.pixels);
  EXPECT_EQ(shown(mirrored, {0, 0, true}), batch.pixels);
}

TEST(Views, OfAnImageOfOneColourAreThatImage) {
  Batch batch = random_batch(1, 3, 3, 1);
  std::fill(batch.pixels.begin(), batch.pixels.end(), std::uint8_t{77});
  EXPECT_EQ(shown(batch, {1, -1, true}), batch.pixels);
}

TEST(Views, OfAPixelAreThatPixel) {
  const Batch batch = random_batch(2, 1, 1, 3);
  EXPECT_EQ(shown(batch, {1, -1, true}), batch.pixels);
}

TEST(Views, HaveTheSizeOfTheBatch) {
  const Batch batch = random_batch(2, 4, 4, 1);
  std::vector<std::uint8_t> small(batch.pixels.size() - 1);
  EXPECT_THROW(show(batch, {}, small), Error);
}

}  // namespace winnow::pipeline::views_test

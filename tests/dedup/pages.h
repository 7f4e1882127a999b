#pragma once

#include <algorithm>
#include <cstdint>

#include "common/image.h"
#include "common/rng.h"

namespace winnow::dedup {

// A page of a form: grey, 8 bits. `form` decides its rules and labels, `entries` its entries; both
// are words of strokes. Of the 20 words of its entries, `own_words` come from `entries`, the others
// from `like`.
struct Page {
  std::uint64_t form = 1;
  std::uint64_t entries = 1;
  std::uint64_t like = 1;  // seed of the other words
  int own_words = 20;
};

inline void draw_word(Image& image, int left, int top, std::uint64_t seed) {
  CounterRng rng(seed, 0, 0, RandomUse::kTest);
  for (int letter = 0; letter < 6; ++letter) {
    for (int stroke = 0; stroke < 3; ++stroke) {
      const bool is_down = rng.below(2) == 0;
      const int x = left + 9 * letter + static_cast<int>(rng.below(5));
      const int y = top + static_cast<int>(rng.below(6));
      for (int i = 0; i < 7; ++i) {
        const int at_x = std::min(x + (is_down ? 0 : i), image.width_px - 1);
        const int at_y = std::min(y + (is_down ? i : 0), image.height_px - 1);
        image.pixels[static_cast<std::size_t>(at_y * image.width_px + at_x)] = 20;
      }
    }
  }
}

inline Image page(const Page& what, int width = 360, int height = 480) {
  Image image(height, width, 1);
  std::ranges::fill(image.pixels, std::uint8_t{252});
  for (int row = 0; row < 10; ++row) {
    const int top = 24 + row * 44;
    for (int x = 16; x < width - 16; ++x)
      image.pixels[static_cast<std::size_t>((top + 24) * width + x)] = 60;
    draw_word(image, 20, top, 1000 * what.form + static_cast<std::uint64_t>(row));
    for (int k = 0; k < 2; ++k) {
      const int word = 2 * row + k;
      const std::uint64_t seed = word < what.own_words ? what.entries : what.like;
      draw_word(image, 130 + 100 * k, top, 5000 + 100 * seed + static_cast<std::uint64_t>(word));
    }
  }
  return image;
}

}  // namespace winnow::dedup

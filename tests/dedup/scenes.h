#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/image.h"
#include "common/rng.h"

namespace winnow::dedup {

// A grey picture for each seed, with edges and texture at all scales, like a photo: discs and bars
// on noise of several octaves.
inline Image scene(std::uint64_t seed, int width = 84, int height = 63) {
  CounterRng rng(seed, 0, 0, RandomUse::kTest);
  const auto draw = [&](double least, double most) {
    return least + (most - least) * rng.next_u32() * 0x1p-32;
  };
  struct Wave {
    double fx, fy, phase, height;
  };
  std::vector<Wave> waves;
  for (int i = 0; i < 24; ++i) {
    const double frequency = 0.02 * std::pow(1.18, i);
    const double angle = draw(0, 6.28);
    waves.push_back({frequency * std::cos(angle), frequency * std::sin(angle), draw(0, 6.28),
                     12 * std::pow(0.93, i)});
  }
  struct Disc {
    double x, y, across, down, shade;
  };
  std::vector<Disc> discs;
  for (int i = 0; i < 26; ++i) {
    discs.push_back({draw(0, width), draw(0, height), draw(2, 11), draw(2, 11), draw(-70, 70)});
  }
  Image image(height, width, 1);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      double value = 128;
      for (const Wave& wave : waves) {
        value += wave.height * std::sin(6.28 * (wave.fx * x + wave.fy * y) + wave.phase);
      }
      for (const Disc& disc : discs) {
        const double far = std::hypot((x - disc.x) / disc.across, (y - disc.y) / disc.down);
        value += disc.shade * std::clamp(3 * (1 - far), 0.0, 1.0);
      }
      image.pixels[static_cast<std::size_t>(y * width + x)] =
          static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L));
    }
  }
  return image;
}

}  // namespace winnow::dedup

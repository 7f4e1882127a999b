#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "common/simd.h"
#include "dedup/verify/window_code_internal.h"

namespace winnow::dedup {
namespace {

constexpr int kWindowSide = 16;  // samples per side of a window
constexpr int kCells = 4;        // cells of the gradient histogram, per side
constexpr int kDirections = 8;   // directions of the histogram, per cell
constexpr int kCosines = 9;      // lowest frequencies, per side
constexpr int kHistogram = kCells * kCells * kDirections;

using Window = std::array<std::array<float, kWindowSide>, kWindowSide>;
using Histogram = std::array<float, kHistogram>;

// The two cells that a sample contributes to, and the weight of the first.
struct Share {
  int first = 0;
  float of_first = 0;
};

// The frequency of each cosine bit, by growing sum of frequencies, and the histogram entries that
// are kept.
struct Layout {
  Layout();

  std::array<std::pair<int, int>, 64> frequencies{};  // down, across
  std::uint64_t odd_down = 0;                         // bits whose sign changes in a mirror
  std::array<int, 64> numbers{};                      // kept entries of the histogram
  // Bit of the second word that each becomes in a mirror.
  std::array<int, 64> mirror{};
  std::array<std::array<float, kWindowSide>, kCosines> cosines{};
  Window weights{};
  std::array<Share, kWindowSide> shares{};
  std::array<std::array<float, kWindowSide>, kCells> of_cell{};  // weights, by cell
};

int number_of(int y, int x, int direction) { return (y * kCells + x) * kDirections + direction; }

Layout::Layout() {
  std::size_t bit = 0;
  for (int sum = 1; bit < frequencies.size(); ++sum) {
    for (int across = std::max(0, sum - kCosines + 1);
         across < std::min(kCosines, sum + 1) && bit < frequencies.size(); ++across) {
      frequencies[bit] = {sum - across, across};
      if ((sum - across) % 2 == 1) odd_down |= std::uint64_t{1} << bit;
      ++bit;
    }
  }
  std::array<int, kHistogram> bit_of{};
  bit = 0;
  for (int y = 0; y < kCells; ++y) {
    for (int x = 0; x < kCells; ++x) {
      for (int direction = 0; direction < kDirections; ++direction) {
        // Keep every second entry, such that a mirror maps kept ones to each other.
        if ((x + std::min(y, kCells - 1 - y) + direction) % 2 != 0) continue;
        bit_of[static_cast<std::size_t>(number_of(y, x, direction))] = static_cast<int>(bit);
        numbers[bit++] = number_of(y, x, direction);
      }
    }
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const int direction = numbers[i] % kDirections;
    const int cell = numbers[i] / kDirections;
    const int seen = number_of(kCells - 1 - cell / kCells, cell % kCells,
                               (kDirections - direction) % kDirections);
    mirror[i] = bit_of[static_cast<std::size_t>(seen)];
  }
  for (int k = 0; k < kCosines; ++k) {
    for (int i = 0; i < kWindowSide; ++i) {
      cosines[static_cast<std::size_t>(k)][static_cast<std::size_t>(i)] =
          static_cast<float>(std::cos(std::numbers::pi * k * (2 * i + 1) / (2 * kWindowSide)));
    }
  }
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const float at = (static_cast<float>(i) + 0.5F) / (kWindowSide / kCells) - 0.5F;
    const int first = static_cast<int>(std::floor(at));
    shares[i] = {first, 1 - (at - static_cast<float>(first))};
    for (int cell = first; cell < std::min(first + 2, kCells); ++cell) {
      if (cell < 0) continue;
      of_cell[static_cast<std::size_t>(cell)][i] =
          cell == first ? shares[i].of_first : 1 - shares[i].of_first;
    }
  }
  for (int i = 0; i < kWindowSide; ++i) {
    for (int j = 0; j < kWindowSide; ++j) {
      const double down = (i + 0.5) / kWindowSide * 2 - 1;
      const double across = (j + 0.5) / kWindowSide * 2 - 1;
      weights[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] =
          static_cast<float>(std::exp(-(down * down + across * across) / (2 * 0.6 * 0.6)));
    }
  }
}

const Layout& layout() {
  static const Layout layout;
  return layout;
}

// Bilinear, like sample().
[[gnu::always_inline]] inline Window window_at(const Plane& level, const Place& place) {
  const float reach = kWindowReach * place.scale;
  const float cosine = std::cos(place.angle) * reach;
  const float sine = std::sin(place.angle) * reach;
  const auto right = static_cast<float>(level.width - 1);
  const auto bottom = static_cast<float>(level.height - 1);
  const int last_left = std::max(0, level.width - 2);
  const int last_top = std::max(0, level.height - 2);
  const int next = level.width > 1 ? 1 : 0;
  const int next_row = level.height > 1 ? level.width : 0;
  Window window;
  for (std::size_t i = 0; i < kWindowSide; ++i) {
    const float down = (static_cast<float>(i) + 0.5F) / kWindowSide * 2 - 1;
    std::array<int, kWindowSide> at;
    std::array<float, kWindowSide> to_right;
    std::array<float, kWindowSide> to_bottom;
    for (std::size_t j = 0; j < kWindowSide; ++j) {
      const float across = (static_cast<float>(static_cast<int>(j)) + 0.5F) / kWindowSide * 2 - 1;
      const float x = std::clamp(place.x + cosine * across - sine * down, 0.0F, right);
      const float y = std::clamp(place.y + sine * across + cosine * down, 0.0F, bottom);
      const int left = std::min(static_cast<int>(x), last_left);
      const int top = std::min(static_cast<int>(y), last_top);
      at[j] = top * level.width + left;
      to_right[j] = x - static_cast<float>(left);
      to_bottom[j] = y - static_cast<float>(top);
    }
    std::array<std::array<float, kWindowSide>, 4> corners;
    for (std::size_t j = 0; j < kWindowSide; ++j) {
      const float* const corner = level.values.data() + at[j];
      corners[0][j] = corner[0];
      corners[1][j] = corner[next];
      corners[2][j] = corner[next_row];
      corners[3][j] = corner[next_row + next];
    }
    for (std::size_t j = 0; j < kWindowSide; ++j) {
      const float upper = corners[0][j] + to_right[j] * (corners[1][j] - corners[0][j]);
      const float lower = corners[2][j] + to_right[j] * (corners[3][j] - corners[2][j]);
      window[i][j] = upper + to_bottom[j] * (lower - upper);
    }
  }
  return window;
}

[[gnu::always_inline]] inline std::uint64_t cosine_signs(const Window& window,
                                                         const Layout& layout) {
  float sum = 0;
  float total = 0;
  for (std::size_t i = 0; i < kWindowSide; ++i) {
    for (std::size_t j = 0; j < kWindowSide; ++j) {
      sum += layout.weights[i][j] * window[i][j];
      total += layout.weights[i][j];
    }
  }
  const float mean = sum / total;
  std::array<std::array<float, kWindowSide>, kCosines> down{};
  for (std::size_t i = 0; i < kWindowSide; ++i) {
    std::array<float, kWindowSide> row{};
    for (std::size_t j = 0; j < kWindowSide; ++j)
      row[j] = layout.weights[i][j] * (window[i][j] - mean);
    for (std::size_t k = 0; k < kCosines; ++k) {
      const float cosine = layout.cosines[k][i];
      for (std::size_t j = 0; j < kWindowSide; ++j) down[k][j] += cosine * row[j];
    }
  }
  std::uint64_t signs = 0;
  for (std::size_t bit = 0; bit < layout.frequencies.size(); ++bit) {
    const auto [low, across] = layout.frequencies[bit];
    const auto& values = down[static_cast<std::size_t>(low)];
    const auto& cosine = layout.cosines[static_cast<std::size_t>(across)];
    float coefficient = 0;
    for (std::size_t j = 0; j < kWindowSide; ++j) coefficient += cosine[j] * values[j];
    if (coefficient > 0) signs |= std::uint64_t{1} << bit;
  }
  return signs;
}

// Gradient and direction (0 .. kDirections) of the samples of a row.
struct Slopes {
  std::array<float, kWindowSide> steepness;
  std::array<float, kWindowSide> turn;
};
[[gnu::always_inline]] inline Slopes slopes_of(const Window& window, const Layout& layout,
                                               std::size_t i) {
  const auto& above = window[i == 0 ? 0 : i - 1];
  const auto& below = window[std::min<std::size_t>(i + 1, kWindowSide - 1)];
  std::array<float, kWindowSide + 2> row;
  std::copy(window[i].begin(), window[i].end(), row.begin() + 1);
  row.front() = row[1];
  row.back() = row[kWindowSide];
  constexpr float kOfTurn = kDirections / (2 * std::numbers::pi_v<float>);
  Slopes slopes;
  for (std::size_t j = 0; j < kWindowSide; ++j) {
    const float dx = row[j + 2] - row[j];
    const float dy = below[j] - above[j];
    const float turn = angle_of(dx, dy) * kOfTurn;
    slopes.steepness[j] = std::sqrt(dx * dx + dy * dy) * layout.weights[i][j];
    slopes.turn[j] = turn < 0 ? turn + kDirections : turn;
  }
  return slopes;
}

// A sample contributes to the two nearest directions and the four nearest cells, by proximity. All
// cells and directions are updated, in vectors; most contributions are 0.
[[gnu::always_inline]] inline Histogram histogram_of(const Window& window, const Layout& layout) {
  using Row = std::array<float, kWindowSide>;
  std::array<std::array<Row, kDirections>, kCells> bands{};  // one for each row of cells
  for (std::size_t i = 0; i < kWindowSide; ++i) {
    const Slopes slopes = slopes_of(window, layout, i);
    const Share& down = layout.shares[i];
    const auto add = [&](int cell, float of_cell) __attribute__((always_inline)) {
      if (cell < 0 || cell >= kCells) return;
      for (std::size_t k = 0; k < kDirections; ++k) {
        Row& band = bands[static_cast<std::size_t>(cell)][k];
        for (std::size_t j = 0; j < kWindowSide; ++j) {
          const float away = std::fabs(slopes.turn[j] - static_cast<float>(k));
          const float turned = std::min(away, kDirections - away);
          band[j] += slopes.steepness[j] * of_cell * std::max(0.0F, 1 - turned);
        }
      }
    };
    add(down.first, down.of_first);
    add(down.first + 1, 1 - down.of_first);
  }
  Histogram histogram{};
  for (int y = 0; y < kCells; ++y) {
    for (int k = 0; k < kDirections; ++k) {
      const Row& band = bands[static_cast<std::size_t>(y)][static_cast<std::size_t>(k)];
      for (int x = 0; x < kCells; ++x) {
        const Row& share = layout.of_cell[static_cast<std::size_t>(x)];
        float sum = 0;
        for (std::size_t j = 0; j < kWindowSide; ++j) sum += share[j] * band[j];
        histogram[static_cast<std::size_t>(number_of(y, x, k))] = sum;
      }
    }
  }
  return histogram;
}

// The median of the values, which are not negative.
[[gnu::always_inline]] inline float middle_of(const Histogram& histogram) {
  // Interpreted as integers their bits have the same order: find the largest number with few enough
  // below it.
  std::array<std::uint32_t, kHistogram> values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::bit_cast<std::uint32_t>(histogram[i]);
  }
  std::uint32_t middle = 0;
  for (int bit = 30; bit >= 0; --bit) {
    const std::uint32_t next = middle | std::uint32_t{1} << bit;
    int below = 0;
    for (const std::uint32_t value : values) below += value < next ? 1 : 0;
    if (below <= kHistogram / 2) middle = next;
  }
  return std::bit_cast<float>(middle);
}

[[gnu::always_inline]] inline std::uint64_t histogram_bits(const Histogram& histogram,
                                                           const Layout& layout) {
  const float middle = middle_of(histogram);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < layout.numbers.size(); ++i) {
    if (histogram[static_cast<std::size_t>(layout.numbers[i])] > middle) {
      bits |= std::uint64_t{1} << i;
    }
  }
  return bits;
}

[[gnu::always_inline]] inline LandmarkCode code_by(const Plane& level, const Place& place,
                                                   const Layout& layout) {
  const Window window = window_at(level, place);
  return {cosine_signs(window, layout), histogram_bits(histogram_of(window, layout), layout)};
}
#if defined(__x86_64__)
[[gnu::target("avx2")]] LandmarkCode code_avx2(const Plane& level, const Place& place,
                                               const Layout& layout) {
  return code_by(level, place, layout);
}
#endif

}  // namespace

LandmarkCode code_of_window(const Plane& level, const Place& place) {
#if defined(__x86_64__)
  if (widest_simd() >= Simd::kAvx2) return code_avx2(level, place, layout());
#endif
  return code_by(level, place, layout());
}

LandmarkCode mirrored(const LandmarkCode& code) noexcept {
  const Layout& of = layout();
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < of.mirror.size(); ++i) {
    bits |= (code[1] >> i & 1) << of.mirror[i];
  }
  return {code[0] ^ of.odd_down, bits};
}

}  // namespace winnow::dedup

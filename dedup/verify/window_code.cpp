#include <algorithm>
#include <cmath>
#include <numbers>

#include "dedup/verify/window_code_internal.h"

namespace winnow::dedup {
namespace {

constexpr int kSide = 16;       // samples of a window
constexpr int kCells = 4;       // of the gradient histogram, a side
constexpr int kDirections = 8;  // of it, a cell
constexpr int kCosines = 9;     // lowest frequencies, a side
constexpr int kHistogram = kCells * kCells * kDirections;

using Window = std::array<std::array<float, kSide>, kSide>;
using Histogram = std::array<float, kHistogram>;

// What each cosine bit is the sign of, by growing sum of frequencies, and which histogram numbers
// are kept.
struct Layout {
  Layout();

  std::array<std::pair<int, int>, 64> frequencies{};  // down, across
  std::uint64_t odd_down = 0;                         // bits whose sign a mirror changes
  std::array<int, 64> numbers{};                      // of the histogram
  std::array<int, 64> mirror{};                       // bit of the second word it becomes
  std::array<std::array<float, kSide>, kCosines> cosines{};
  Window weights{};
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
        // Every second one, so that a mirror maps those that are kept to each other.
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
    for (int i = 0; i < kSide; ++i) {
      cosines[static_cast<std::size_t>(k)][static_cast<std::size_t>(i)] =
          static_cast<float>(std::cos(std::numbers::pi * k * (2 * i + 1) / (2 * kSide)));
    }
  }
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j) {
      const double down = (i + 0.5) / kSide * 2 - 1;
      const double across = (j + 0.5) / kSide * 2 - 1;
      weights[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] =
          static_cast<float>(std::exp(-(down * down + across * across) / (2 * 0.6 * 0.6)));
    }
  }
}

const Layout& layout() {
  static const Layout layout;
  return layout;
}

Window window_at(const Plane& level, const Place& place) {
  Window window{};
  const float reach = kWindowReach * place.scale;
  const float cosine = std::cos(place.angle) * reach;
  const float sine = std::sin(place.angle) * reach;
  for (int i = 0; i < kSide; ++i) {
    const float down = (static_cast<float>(i) + 0.5F) / kSide * 2 - 1;
    for (int j = 0; j < kSide; ++j) {
      const float across = (static_cast<float>(j) + 0.5F) / kSide * 2 - 1;
      window[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = sample(
          level, place.x + cosine * across - sine * down, place.y + sine * across + cosine * down);
    }
  }
  return window;
}

std::uint64_t cosine_signs(const Window& window, const Layout& layout) {
  float sum = 0;
  float total = 0;
  for (std::size_t i = 0; i < kSide; ++i) {
    for (std::size_t j = 0; j < kSide; ++j) {
      sum += layout.weights[i][j] * window[i][j];
      total += layout.weights[i][j];
    }
  }
  const float mean = sum / total;
  std::array<std::array<float, kSide>, kCosines> down{};
  for (std::size_t i = 0; i < kSide; ++i) {
    std::array<float, kSide> row{};
    for (std::size_t j = 0; j < kSide; ++j) row[j] = layout.weights[i][j] * (window[i][j] - mean);
    for (std::size_t k = 0; k < kCosines; ++k) {
      const float cosine = layout.cosines[k][i];
      for (std::size_t j = 0; j < kSide; ++j) down[k][j] += cosine * row[j];
    }
  }
  std::uint64_t signs = 0;
  for (std::size_t bit = 0; bit < layout.frequencies.size(); ++bit) {
    const auto [low, across] = layout.frequencies[bit];
    const auto& values = down[static_cast<std::size_t>(low)];
    const auto& cosine = layout.cosines[static_cast<std::size_t>(across)];
    float coefficient = 0;
    for (std::size_t j = 0; j < kSide; ++j) coefficient += cosine[j] * values[j];
    if (coefficient > 0) signs |= std::uint64_t{1} << bit;
  }
  return signs;
}

// Where a sample counts among cells, and how much for the first of two.
struct Share {
  int first;
  float of_first;
};
Share share_of(std::size_t sample) {
  const float at = (static_cast<float>(sample) + 0.5F) / (kSide / kCells) - 0.5F;
  const int first = static_cast<int>(std::floor(at));
  return {first, 1 - (at - static_cast<float>(first))};
}

void add(Histogram& histogram, int y, int x, int direction, float weight) {
  if (y < 0 || y >= kCells || x < 0 || x >= kCells) return;
  histogram[static_cast<std::size_t>(number_of(y, x, direction % kDirections))] += weight;
}

Histogram histogram_of(const Window& window, const Layout& layout) {
  Histogram histogram{};
  for (std::size_t i = 0; i < kSide; ++i) {
    const Share down = share_of(i);
    const std::size_t above = i == 0 ? 0 : i - 1;
    const std::size_t below = std::min<std::size_t>(i + 1, kSide - 1);
    for (std::size_t j = 0; j < kSide; ++j) {
      const float dx =
          window[i][std::min<std::size_t>(j + 1, kSide - 1)] - window[i][j == 0 ? 0 : j - 1];
      const float dy = window[below][j] - window[above][j];
      const float weight = std::sqrt(dx * dx + dy * dy) * layout.weights[i][j];
      float turn = angle_of(dx, dy) * (kDirections / (2 * std::numbers::pi_v<float>));
      if (turn < 0) turn += kDirections;
      const int direction = static_cast<int>(turn);
      const float next = turn - static_cast<float>(direction);
      const Share across = share_of(j);
      for (int y = 0; y < 2; ++y) {
        const float of_row = weight * (y == 0 ? down.of_first : 1 - down.of_first);
        for (int x = 0; x < 2; ++x) {
          const float of_cell = of_row * (x == 0 ? across.of_first : 1 - across.of_first);
          add(histogram, down.first + y, across.first + x, direction, of_cell * (1 - next));
          add(histogram, down.first + y, across.first + x, direction + 1, of_cell * next);
        }
      }
    }
  }
  return histogram;
}

std::uint64_t histogram_bits(const Histogram& histogram, const Layout& layout) {
  Histogram sorted = histogram;
  const auto middle = sorted.begin() + kHistogram / 2;
  std::nth_element(sorted.begin(), middle, sorted.end());
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < layout.numbers.size(); ++i) {
    if (histogram[static_cast<std::size_t>(layout.numbers[i])] > *middle) {
      bits |= std::uint64_t{1} << i;
    }
  }
  return bits;
}

}  // namespace

float angle_of(float x, float y) noexcept {
  const float wide = std::fabs(x);
  const float high = std::fabs(y);
  const float most = std::max(wide, high);
  if (most == 0) return 0;
  const float ratio = std::min(wide, high) / most;
  const float square = ratio * ratio;
  // Least-squares polynomial of the arc tangent on 0..1.
  float angle =
      ((-0.0464964749F * square + 0.15931422F) * square - 0.327622764F) * square * ratio + ratio;
  if (high > wide) angle = std::numbers::pi_v<float> / 2 - angle;
  if (x < 0) angle = std::numbers::pi_v<float> - angle;
  return y < 0 ? -angle : angle;
}

LandmarkCode code_of_window(const Plane& level, const Place& place) {
  const Layout& of = layout();
  const Window window = window_at(level, place);
  return {cosine_signs(window, of), histogram_bits(histogram_of(window, of), of)};
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

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

// Where a sample counts among cells, and how much for the first of two.
struct Share {
  int first = 0;
  float of_first = 0;
};

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
  std::array<Share, kSide> shares{};
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
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const float at = (static_cast<float>(i) + 0.5F) / (kSide / kCells) - 0.5F;
    const int first = static_cast<int>(std::floor(at));
    shares[i] = {first, 1 - (at - static_cast<float>(first))};
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

// How steep the samples of a row are, and in which direction: 0 .. kDirections.
struct Slopes {
  std::array<float, kSide> steepness{};
  std::array<float, kSide> turn{};
};
Slopes slopes_of(const Window& window, const Layout& layout, std::size_t i) {
  const auto& above = window[i == 0 ? 0 : i - 1];
  const auto& below = window[std::min<std::size_t>(i + 1, kSide - 1)];
  std::array<float, kSide + 2> row{};
  std::copy(window[i].begin(), window[i].end(), row.begin() + 1);
  row.front() = row[1];
  row.back() = row[kSide];
  constexpr float kOfTurn = kDirections / (2 * std::numbers::pi_v<float>);
  Slopes slopes;
  for (std::size_t j = 0; j < kSide; ++j) {
    const float dx = row[j + 2] - row[j];
    const float dy = below[j] - above[j];
    const float turn = angle_of(dx, dy) * kOfTurn;
    slopes.steepness[j] = std::sqrt(dx * dx + dy * dy) * layout.weights[i][j];
    slopes.turn[j] = turn < 0 ? turn + kDirections : turn;
  }
  return slopes;
}

Histogram histogram_of(const Window& window, const Layout& layout) {
  // With a cell more on each side, and a direction more, which are those behind the last.
  constexpr int kPadded = kCells + 2;
  std::array<std::array<std::array<float, kDirections + 2>, kPadded>, kPadded> padded{};
  for (std::size_t i = 0; i < kSide; ++i) {
    const Share& down = layout.shares[i];
    const Slopes slopes = slopes_of(window, layout, i);
    auto& upper = padded[static_cast<std::size_t>(down.first + 1)];
    auto& lower = padded[static_cast<std::size_t>(down.first + 2)];
    for (std::size_t j = 0; j < kSide; ++j) {
      const Share& across = layout.shares[j];
      const auto direction = static_cast<std::size_t>(slopes.turn[j]);
      const float next = slopes.turn[j] - static_cast<float>(direction);
      const auto add = [&](auto& row, float of_row) {
        const float weight = slopes.steepness[j] * of_row;
        auto& left = row[static_cast<std::size_t>(across.first + 1)];
        auto& right = row[static_cast<std::size_t>(across.first + 2)];
        const float of_left = weight * across.of_first;
        const float of_right = weight - of_left;
        left[direction] += of_left * (1 - next);
        left[direction + 1] += of_left * next;
        right[direction] += of_right * (1 - next);
        right[direction + 1] += of_right * next;
      };
      add(upper, down.of_first);
      add(lower, 1 - down.of_first);
    }
  }
  Histogram histogram{};
  for (int y = 0; y < kCells; ++y) {
    for (int x = 0; x < kCells; ++x) {
      const auto& cell = padded[static_cast<std::size_t>(y + 1)][static_cast<std::size_t>(x + 1)];
      for (int k = 0; k < kDirections; ++k) {
        histogram[static_cast<std::size_t>(number_of(y, x, k))] = cell[static_cast<std::size_t>(k)];
      }
      histogram[static_cast<std::size_t>(number_of(y, x, 0))] += cell[kDirections];
      histogram[static_cast<std::size_t>(number_of(y, x, 1))] += cell[kDirections + 1];
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

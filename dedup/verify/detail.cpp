#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "dedup/verify/detail_internal.h"
#include "dedup/verify/laid_internal.h"
#include "dedup/verify/rounding_internal.h"

namespace winnow::dedup::better {
namespace {

// Power of details between two widths, by blocks of the common area.
struct Bands {
  std::vector<float> fine_a, fine_b, coarse_a, coarse_b;
};
Bands bands(const Plane& a, const Plane& b, double zoom) {
  const auto without_nothing = [](Plane plane) {
    double sum = 0;
    double count = 0;
    for (const float value : plane.values) {
      if (value != kNothing) sum += value, ++count;
    }
    const auto mean = static_cast<float>(sum / std::max(1.0, count));
    for (float& value : plane.values) {
      if (value == kNothing) value = mean;
    }
    return plane;
  };
  const Plane filled_b = without_nothing(b);
  const auto width = static_cast<float>(0.8 * zoom);
  const Plane soft_a = blurred(a, width);
  const Plane soft_b = blurred(filled_b, width);
  const Plane fine_a = difference(a, soft_a);
  const Plane fine_b = difference(filled_b, soft_b);
  const Plane coarse_a = difference(blurred(a, 4 * width), blurred(a, 10 * width));
  const Plane coarse_b = difference(blurred(filled_b, 4 * width), blurred(filled_b, 10 * width));
  const int side = std::max(12, static_cast<int>(std::lround(12 * zoom)));
  const int edge = static_cast<int>(std::lround(3 * width)) + 1;
  Bands out;
  for (int top = 0; top + side <= a.height; top += side) {
    for (int left = 0; left + side <= a.width; left += side) {
      std::array<double, 4> sums{};
      bool is_seen = true;
      for (int y = top; y < top + side; ++y) {
        for (int x = left; x < left + side; ++x) {
          const auto i = static_cast<std::size_t>(y) * static_cast<std::size_t>(a.width) +
                         static_cast<std::size_t>(x);
          is_seen = is_seen && b.values[i] != kNothing;
          sums[0] += fine_a.values[i] * fine_a.values[i];
          sums[1] += fine_b.values[i] * fine_b.values[i];
          sums[2] += coarse_a.values[i] * coarse_a.values[i];
          sums[3] += coarse_b.values[i] * coarse_b.values[i];
        }
      }
      // If `b` ends nearby, its edge would count as detail.
      for (const int y : {top - edge, top + side + edge}) {
        for (const int x : {left - edge, left + side + edge}) {
          if (x < 0 || y < 0 || x >= a.width || y >= a.height) continue;
          is_seen = is_seen && b.at(x, y) != kNothing;
        }
      }
      if (!is_seen) continue;
      const double pixels = static_cast<double>(side) * side;
      out.fine_a.push_back(static_cast<float>(sums[0] / pixels));
      out.fine_b.push_back(static_cast<float>(sums[1] / pixels));
      out.coarse_a.push_back(static_cast<float>(sums[2] / pixels));
      out.coarse_b.push_back(static_cast<float>(sums[3] / pixels));
    }
  }
  return out;
}

// How much more fine detail the larger picture has than the enlarged smaller one, relative to
// coarse detail.
struct Detail {
  double more = 1;
  double fine = 0;  // power of fine details of the smaller picture
};
std::optional<Detail> detail_between(const Plane& larger, const Plane& upon, double zoom) {
  const Bands all = bands(larger, upon, zoom);
  struct Block {
    float texture;
    float ratio;  // its logarithm
    float fine;
  };
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < all.fine_a.size(); ++i) {
    constexpr float kLeast = 0.3F;
    const float coarse = std::sqrt((all.coarse_a[i] + kLeast) / (all.coarse_b[i] + kLeast));
    const float fine = std::sqrt((all.fine_a[i] + kLeast) / (all.fine_b[i] + kLeast));
    blocks.push_back({all.coarse_a[i] + all.coarse_b[i], std::log(fine / coarse), all.fine_b[i]});
  }
  if (blocks.size() < 16) return std::nullopt;
  std::ranges::sort(blocks, [](const Block& a, const Block& b) {
    return std::tie(a.texture, a.ratio) < std::tie(b.texture, b.ratio);
  });
  std::vector<float> ratios;
  std::vector<float> fine;
  for (std::size_t i = blocks.size() / 2; i < blocks.size(); ++i) {
    ratios.push_back(blocks[i].ratio);
    fine.push_back(blocks[i].fine);
  }
  return Detail{std::exp(middle_of(std::move(ratios))), middle_of(std::move(fine))};
}

}  // namespace

Plane filtered_like(const Plane& picture, const Plane& upon) {
  constexpr std::array<float, 4> kWidths{0.7F, 1.4F, 2.8F, 5.6F};
  constexpr std::size_t kTerms = kWidths.size() + 2;
  double sum = 0;
  double count = 0;
  for (const float value : upon.values) {
    if (value != kNothing) sum += value, ++count;
  }
  Plane filled = upon;
  for (float& value : filled.values) {
    if (value == kNothing) value = static_cast<float>(sum / std::max(1.0, count));
  }
  std::vector<Plane> terms{filled};
  for (const float width : kWidths) terms.push_back(blurred(filled, width));
  const auto term = [&](std::size_t k, std::size_t i) {
    return k + 1 == kTerms ? 128.0 : double{terms[k].values[i]};
  };
  // Normal equations, by Gaussian elimination.
  std::array<std::array<double, kTerms + 1>, kTerms> rows{};
  for (std::size_t i = 0; i < upon.values.size(); i += 3) {
    if (upon.values[i] == kNothing) continue;
    for (std::size_t r = 0; r < kTerms; ++r) {
      for (std::size_t c = r; c < kTerms; ++c) rows[r][c] += term(r, i) * term(c, i);
      rows[r][kTerms] += term(r, i) * picture.values[i];
    }
  }
  for (std::size_t r = 0; r < kTerms; ++r) {
    for (std::size_t c = 0; c < r; ++c) rows[r][c] = rows[c][r];
    rows[r][r] += 1e-4 * count;
  }
  for (std::size_t r = 0; r < kTerms; ++r) {
    for (std::size_t below = r + 1; below < kTerms; ++below) {
      const double share = rows[below][r] / rows[r][r];
      for (std::size_t c = r; c <= kTerms; ++c) rows[below][c] -= share * rows[r][c];
    }
  }
  std::array<double, kTerms> weights{};
  for (std::size_t r = kTerms; r-- > 0;) {
    double left = rows[r][kTerms];
    for (std::size_t c = r + 1; c < kTerms; ++c) left -= rows[r][c] * weights[c];
    weights[r] = left / rows[r][r];
  }
  Plane out = upon;
  for (std::size_t i = 0; i < out.values.size(); ++i) {
    if (out.values[i] == kNothing) continue;
    double value = 0;
    for (std::size_t k = 0; k < kTerms; ++k) value += weights[k] * term(k, i);
    out.values[i] = static_cast<float>(std::clamp(value, 0.0, 255.0));
  }
  return out;
}

double lost_at_ends(const Plane& picture, const Plane& upon) {
  constexpr double kDiffers = 8;
  double all = 0;
  double lost = 0;
  for (const bool is_dark : {true, false}) {
    double n = 0, sum = 0, squares = 0;
    all = 0;
    for (std::size_t i = 0; i < picture.values.size(); ++i) {
      if (upon.values[i] == kNothing) continue;
      ++all;
      const float value = picture.values[i];
      if (is_dark ? value > 3 : value < 252) continue;
      const double there = upon.values[i];
      ++n, sum += there, squares += there * there;
    }
    if (n > 0 && std::sqrt(std::max(0.0, squares / n - sum / n * (sum / n))) > kDiffers) lost += n;
  }
  return lost / std::max(1.0, all);
}

double entropy(const Plane& picture, const Plane& upon) {
  std::array<double, 256> counts{};
  double all = 0;
  for (std::size_t i = 0; i < picture.values.size(); ++i) {
    if (upon.values[i] == kNothing) continue;
    ++counts[static_cast<std::size_t>(std::clamp(picture.values[i], 0.0F, 255.0F) + 0.5F)];
    ++all;
  }
  double bits = 0;
  for (const double count : counts) {
    if (count > 0) bits -= count / all * std::log2(count / all);
  }
  return bits;
}

double blockiness(const Plane& plane) {
  std::array<double, kSide> steep{};
  std::array<double, kSide> count{};
  for (int y = 0; y < plane.height; ++y) {
    for (int x = 0; x + 1 < plane.width; ++x) {
      steep[static_cast<std::size_t>(x % kSide)] += std::fabs(plane.at(x + 1, y) - plane.at(x, y));
      ++count[static_cast<std::size_t>(x % kSide)];
    }
  }
  double inside = 0;
  for (std::size_t i = 0; i + 1 < kSide; ++i) inside += steep[i] / std::max(1.0, count[i]);
  return (steep[kSide - 1] / std::max(1.0, count[kSide - 1]) + 0.1) / (inside / (kSide - 1) + 0.1);
}

std::optional<double> more_detail(const Plane& a, const Plane& b, const Affine& map) {
  // Each is resampled to the other, so that both lose the same by resampling.
  const auto of_a = detail_between(a, aligned_onto(a, b, map), 1);
  const auto of_b = detail_between(b, aligned_onto(b, a, inverse(map)), 1);
  if (!of_a || !of_b) return std::nullopt;
  return std::sqrt(of_a->more / of_b->more);
}

std::optional<Better> by_detail(const Plane& a, const Plane& b, const Affine& map,
                                bool is_whole_size) {
  constexpr double kMoreDetail = 1.15;
  constexpr double kOnceMoreResampled = 1.03;
  constexpr double kOneScale = 1.02;
  const double zoom = zoom_of(map);
  const double ratio = std::max(zoom, 1 / zoom);
  if (ratio < kOneScale) {
    const auto more = more_detail(a, b, map);
    if (!more || std::max(*more, 1 / *more) < kOnceMoreResampled) return std::nullopt;
    return Better{*more > 1, KeptFor::kDetail, false};
  }
  if (!is_whole_size) return std::nullopt;
  const bool is_a_larger = zoom < 1;
  const auto detail = is_a_larger ? detail_between(a, aligned_onto(a, b, map), ratio)
                                  : detail_between(b, aligned_onto(b, a, inverse(map)), ratio);
  if (!detail) return std::nullopt;
  // A smooth picture has no more detail than its reduced copy; then most pixels decide.
  constexpr double kLess = 0.97;
  constexpr double kTells = 13;
  if (detail->more > kLess && detail->more <= kMoreDetail && detail->fine < kTells) {
    return std::nullopt;
  }
  if (detail->more > kMoreDetail) return Better{is_a_larger, KeptFor::kDetail, true};
  return Better{!is_a_larger, KeptFor::kNotEnlarged, detail->more < 1};
}

}  // namespace winnow::dedup::better

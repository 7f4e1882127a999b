#include "dedup/verify/registration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "common/simd.h"
#include "dedup/verify/solve_internal.h"

namespace winnow::dedup {
namespace {

constexpr float kCoarseSigma = 2.2F;
constexpr float kFineSigma = 1.0F;
constexpr float kPictureSigma = 0.5F;
constexpr int kBlockSide = 8;
constexpr int kMostSide = 10;
constexpr std::size_t kMostPixels = (kMostSide * kMostSide + 7) / 8 * 8;
constexpr double kMostStretch = 1.3;
constexpr double kLeastZoom = 0.2;  // for pictures that can be compared at all

Registrable::Level level_of(const Plane& picture, float sigma) {
  Registrable::Level level{.values = blurred(picture, sigma), .slopes = {}};
  const Plane across = slope_x(level.values);
  const Plane down = slope_y(level.values);
  level.slopes.resize(level.values.values.size());
  for (std::size_t i = 0; i < level.slopes.size(); ++i) {
    level.slopes[i] = {level.values.values[i], across.values[i], down.values[i], 0};
  }
  return level;
}

// How to visit the blocks of a plane.
struct Grid {
  const Plane& plane;
  int side = kBlockSide;  // at most kMostSide
  int step = 1;           // between visited pixels

  int across() const { return (plane.width + side - 1) / side; }
  int down() const { return (plane.height + side - 1) / side; }
  int count() const { return across() * down(); }
  int left_of(int block) const { return block % across() * side; }
  int top_of(int block) const { return block / across() * side; }
};

// The pixels of a block, and where a map places them in another plane. Padded to vectors of eight;
// pixels outside and padding have weight 0.
struct Pixels {
  [[gnu::always_inline]] Pixels(const Grid& grid, int block, const Affine& map, const Plane& to);

  // Whether most of them are inside.
  bool is_inside() const { return seen >= 6 && seen * 5 >= all * 3; }

  int all = 0;
  int seen = 0;   // inside
  int count = 0;  // in the arrays
  using Row = std::array<float, kMostPixels>;
  Row x, y;
  Row share;
  Row value;  // values of the block
  Row right, below;
  std::array<int, kMostPixels> at;  // the pixel of the other plane to the upper left
};

inline Pixels::Pixels(const Grid& grid, int block, const Affine& map, const Plane& to) {
  const int right_end = std::min(grid.plane.width, grid.left_of(block) + grid.side);
  const int bottom = std::min(grid.plane.height, grid.top_of(block) + grid.side);
  for (int py = grid.top_of(block); py < bottom; py += grid.step) {
    const float* const row = grid.plane.row(py);
    for (int px = grid.left_of(block); px < right_end; px += grid.step) {
      x[static_cast<std::size_t>(all)] = static_cast<float>(px);
      y[static_cast<std::size_t>(all)] = static_cast<float>(py);
      value[static_cast<std::size_t>(all)] = row[px];
      ++all;
    }
  }
  count = (all + 7) / 8 * 8;
  for (auto i = static_cast<std::size_t>(all); i < static_cast<std::size_t>(count); ++i) {
    x[i] = x[0];
    y[i] = y[0];
    value[i] = 0;
  }
  const auto xx = static_cast<float>(map.xx);
  const auto xy = static_cast<float>(map.xy);
  const auto x0 = static_cast<float>(map.x0);
  const auto yx = static_cast<float>(map.yx);
  const auto yy = static_cast<float>(map.yy);
  const auto y0 = static_cast<float>(map.y0);
  const auto last_x = static_cast<float>(to.width - 1);
  const auto last_y = static_cast<float>(to.height - 1);
  const int most_left = std::max(0, to.width - 2);
  const int most_top = std::max(0, to.height - 2);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const float to_x = xx * x[i] + xy * y[i] + x0;
    const float to_y = yx * x[i] + yy * y[i] + y0;
    const float in_x = std::clamp(to_x, 0.0F, last_x);
    const float in_y = std::clamp(to_y, 0.0F, last_y);
    share[i] = in_x == to_x && in_y == to_y ? 1.0F : 0.0F;
    const int left = std::min(static_cast<int>(in_x), most_left);
    const int top = std::min(static_cast<int>(in_y), most_top);
    right[i] = in_x - static_cast<float>(left);
    below[i] = in_y - static_cast<float>(top);
    at[i] = top * to.width + left;
  }
  for (auto i = static_cast<std::size_t>(all); i < static_cast<std::size_t>(count); ++i) {
    share[i] = 0;
  }
  float inside = 0;
  for (int i = 0; i < all; ++i) inside += share[static_cast<std::size_t>(i)];
  seen = static_cast<int>(inside);
}

// Offsets from a pixel to its right and lower neighbour; 0 in a plane of one column or row.
struct Steps {
  explicit Steps(const Plane& plane)
      : across(plane.width > 1 ? 1 : 0), down(plane.height > 1 ? plane.width : 0) {}
  int across;
  int down;
};

// Bilinear samples of the other plane.
[[gnu::always_inline]] inline void sample_values(const Plane& to, const Pixels& pixels,
                                                 Pixels::Row& values) {
  const Steps steps(to);
  for (std::size_t i = 0; i < static_cast<std::size_t>(pixels.count); ++i) {
    const float* const corner = to.values.data() + pixels.at[i];
    const float upper = corner[0] + pixels.right[i] * (corner[steps.across] - corner[0]);
    const float* const under = corner + steps.down;
    const float lower = under[0] + pixels.right[i] * (under[steps.across] - under[0]);
    values[i] = upper + pixels.below[i] * (lower - upper);
  }
}

// Values and slopes together.
struct Sloped {
  Pixels::Row value;
  Pixels::Row across;
  Pixels::Row down;
};
[[gnu::always_inline]] inline void sample_slopes(const Registrable::Level& to, const Pixels& pixels,
                                                 Sloped& out) {
  using Four [[gnu::vector_size(16)]] = float;
  const Steps steps(to.values);
  const auto load = [](const Registrable::Sloped* from) {
    Four four;
    std::memcpy(&four, from, sizeof four);
    return four;
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(pixels.count); ++i) {
    const Registrable::Sloped* const corner = to.slopes.data() + pixels.at[i];
    const Registrable::Sloped* const under = corner + steps.down;
    const Four first = load(corner);
    const Four second = load(under);
    const Four upper = first + pixels.right[i] * (load(corner + steps.across) - first);
    const Four lower = second + pixels.right[i] * (load(under + steps.across) - second);
    const Four all = upper + pixels.below[i] * (lower - upper);
    out.value[i] = all[0];
    out.across[i] = all[1];
    out.down[i] = all[2];
  }
}

// Comparison of one block of a plane with the aligned plane.
struct ComparedBlock {
  double mean_a = 0;
  double mean_b = 0;
  double variance_a = 0;
  double variance_b = 0;
  double correlation = 0;  // reduced if there is little contrast compared with `noise`
};

// Sums in eight lanes each, always in the same order.
template <std::size_t kSums>
struct Sums {
  std::array<std::array<float, 8>, kSums> lanes{};
  double of(std::size_t sum) const {
    double total = 0;
    for (const float lane : lanes[sum]) total += lane;
    return total;
  }
};

[[gnu::always_inline]] inline ComparedBlock compare(const Pixels& pixels, const Pixels::Row& other,
                                                    double noise) {
  // Relative to values near the means, so that squares stay small.
  const float a0 = pixels.value[0];
  const float b0 = other[0];
  Sums<5> sums;
  for (std::size_t i = 0; i < static_cast<std::size_t>(pixels.count); i += 8) {
    for (std::size_t k = 0; k < 8; ++k) {
      const float a = pixels.share[i + k] * (pixels.value[i + k] - a0);
      const float b = pixels.share[i + k] * (other[i + k] - b0);
      sums.lanes[0][k] += a;
      sums.lanes[1][k] += b;
      sums.lanes[2][k] += a * a;
      sums.lanes[3][k] += b * b;
      sums.lanes[4][k] += a * b;
    }
  }
  ComparedBlock result;
  const double mean_a = sums.of(0) / pixels.seen;
  const double mean_b = sums.of(1) / pixels.seen;
  result.mean_a = a0 + mean_a;
  result.mean_b = b0 + mean_b;
  result.variance_a = std::max(0.0, sums.of(2) / pixels.seen - mean_a * mean_a);
  result.variance_b = std::max(0.0, sums.of(3) / pixels.seen - mean_b * mean_b);
  result.correlation = (sums.of(4) / pixels.seen - mean_a * mean_b) /
                       std::sqrt((result.variance_a + noise) * (result.variance_b + noise));
  return result;
}

// The normal equations of six parameters: the coefficients of x, y and 1 for the new x, and for the
// new y.
class Normal {
 public:
  // Adds residuals whose derivatives by the new x and y are `across` and `down`.
  [[gnu::always_inline]] void add(const Pixels& pixels, const Sloped& there,
                                  const ComparedBlock& block, double weight);
  // Slightly damped; nullopt if singular.
  std::optional<Vector<6>> solution() const;

 private:
  Matrix<6> left_{};  // upper triangle
  Vector<6> right_{};
};

std::optional<Vector<6>> Normal::solution() const {
  Matrix<6> left = left_;
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < i; ++j) left[i][j] = left[j][i];
    left[i][i] += 1e-3 * left[i][i] + 1e-9;
  }
  return solve(left, right_);
}

// Weights blocks by a Gaussian of `sigma` pixels around a place; equal weights if it is 0.
struct Attention {
  double x = 0;
  double y = 0;
  double sigma = 0;

  double of(double at_x, double at_y) const {
    if (sigma == 0) return 1;
    const double square = (at_x - x) * (at_x - x) + (at_y - y) * (at_y - y);
    return std::exp(-square / (2 * sigma * sigma));
  }
};

inline void Normal::add(const Pixels& pixels, const Sloped& there, const ComparedBlock& block,
                        double weight) {
  const auto gain = static_cast<float>(std::sqrt(block.variance_a / block.variance_b));
  const auto mean_a = static_cast<float>(block.mean_a);
  const auto mean_b = static_cast<float>(block.mean_b);
  const auto of_pixel = static_cast<float>(weight / (block.variance_a + 9));
  // Squares of slopes times x x, x y, y y, x, y, 1; and slopes times residual times x, y, 1.
  Sums<18> squares;
  Sums<6> right;
  for (std::size_t i = 0; i < static_cast<std::size_t>(pixels.count); i += 8) {
    for (std::size_t k = 0; k < 8; ++k) {
      const float scale = pixels.share[i + k] * of_pixel;
      const float dx = gain * there.across[i + k];
      const float dy = gain * there.down[i + k];
      const float residual = gain * (there.value[i + k] - mean_b) - (pixels.value[i + k] - mean_a);
      const float x = pixels.x[i + k];
      const float y = pixels.y[i + k];
      const std::array<float, 3> of_slopes{scale * dx * dx, scale * dx * dy, scale * dy * dy};
      const std::array<float, 6> of_places{x * x, x * y, y * y, x, y, 1};
      for (std::size_t m = 0; m < 3; ++m) {
        for (std::size_t n = 0; n < 6; ++n) {
          squares.lanes[m * 6 + n][k] += of_slopes[m] * of_places[n];
        }
      }
      for (std::size_t n = 0; n < 3; ++n) {
        right.lanes[n][k] += scale * residual * dx * of_places[3 + n];
        right.lanes[3 + n][k] += scale * residual * dy * of_places[3 + n];
      }
    }
  }
  // Index of the sum for a pair of x, y, 1.
  constexpr std::array<std::array<std::size_t, 3>, 3> kPlace{{{0, 1, 3}, {1, 2, 4}, {3, 4, 5}}};
  for (std::size_t i = 0; i < 6; ++i) {
    right_[i] -= right.of(i);
    for (std::size_t j = i; j < 6; ++j) {
      left_[i][j] += squares.of((i / 3 + j / 3) * 6 + kPlace[i % 3][j % 3]);
    }
  }
}

// One Gauss-Newton step. False if too little correlates.
[[gnu::always_inline]] inline bool improve_by(const Grid& grid, const Registrable::Level& to,
                                              const Attention& attention, Affine& map) {
  constexpr double kLeast = 0.15;  // minimum correlation that counts
  constexpr double kFull = 0.6;    // correlation with full weight
  constexpr double kLeastTotal = 0.3;
  Normal normal;
  Sloped there;
  double total = 0;
  for (int i = 0; i < grid.count(); ++i) {
    const Pixels pixels(grid, i, map, to.values);
    if (!pixels.is_inside()) continue;
    sample_slopes(to, pixels, there);
    const ComparedBlock block = compare(pixels, there.value, /*noise=*/2);
    if (block.correlation < kLeast || block.variance_a < 0.25 || block.variance_b < 0.25) continue;
    const double linear = std::min(1.0, (block.correlation - kLeast) / (kFull - kLeast));
    const double middle = grid.side / 2.0;
    const double weight =
        linear * linear * attention.of(grid.left_of(i) + middle, grid.top_of(i) + middle);
    if (weight < 1e-3) continue;
    total += weight;
    normal.add(pixels, there, block, weight);
  }
  if (total < kLeastTotal) return false;
  const auto change = normal.solution();
  if (!change) return false;
  map.xx += (*change)[0];
  map.xy += (*change)[1];
  map.x0 += (*change)[2];
  map.yx += (*change)[3];
  map.yy += (*change)[4];
  map.y0 += (*change)[5];
  return true;
}

// Compares one block of the grid with the aligned plane; nullopt if most of it lies outside.
[[gnu::always_inline]] inline std::optional<ComparedBlock> block_upon_by(
    const Grid& grid, int block, const Affine& map, const Plane& to, double noise) {
  const Pixels pixels(grid, block, map, to);
  if (!pixels.is_inside()) return std::nullopt;
  Pixels::Row values;
  sample_values(to, pixels, values);
  return compare(pixels, values, noise);
}

// Both in the vector width of the processor, with the same bits.
#if defined(__x86_64__)
[[gnu::target("avx2")]] bool improve_avx2(const Grid& grid, const Registrable::Level& to,
                                          const Attention& attention, Affine& map) {
  return improve_by(grid, to, attention, map);
}
[[gnu::target("avx2")]] std::optional<ComparedBlock> block_upon_avx2(const Grid& grid, int block,
                                                                     const Affine& map,
                                                                     const Plane& to,
                                                                     double noise) {
  return block_upon_by(grid, block, map, to, noise);
}
#endif

bool improve(const Grid& grid, const Registrable::Level& to, const Attention& attention,
             Affine& map) {
#if defined(__x86_64__)
  if (widest_simd() >= Simd::kAvx2) return improve_avx2(grid, to, attention, map);
#endif
  return improve_by(grid, to, attention, map);
}

std::optional<ComparedBlock> block_upon(const Grid& grid, int block, const Affine& map,
                                        const Plane& to, double noise) {
#if defined(__x86_64__)
  if (widest_simd() >= Simd::kAvx2) return block_upon_avx2(grid, block, map, to, noise);
#endif
  return block_upon_by(grid, block, map, to, noise);
}

bool is_sound(const Affine& map) {
  return std::fabs(map.determinant()) > kLeastZoom * kLeastZoom && stretch_of(map) < kMostStretch;
}

// The largest movement of a corner.
double moved(const Affine& before, const Affine& now, const Plane& plane) {
  const double x = std::fabs(now.xx - before.xx) * plane.width +
                   std::fabs(now.xy - before.xy) * plane.height + std::fabs(now.x0 - before.x0);
  const double y = std::fabs(now.yx - before.yx) * plane.width +
                   std::fabs(now.yy - before.yy) * plane.height + std::fabs(now.y0 - before.y0);
  return std::max(x, y);
}

bool align(const Registrable& from, const Registrable& to, const Place& around, Affine& map) {
  constexpr int kRounds = 5;
  constexpr int kNearRounds = 2;  // rounds in which only the surroundings of the landmark count
  constexpr double kNear = 14;
  constexpr double kStill = 0.02;  // pixels; further rounds would change nothing
  const Grid coarse{.plane = from.coarse().values, .step = 2};
  for (int round = 0; round < kRounds; ++round) {
    const Attention attention{around.x, around.y, round < kNearRounds ? kNear : 0};
    const Affine before = map;
    if (!improve(coarse, to.coarse(), attention, map)) return false;
    if (round >= kNearRounds && moved(before, map, from.picture()) < kStill) break;
  }
  if (!is_sound(map)) return false;
  const Grid fine{.plane = from.fine().values};
  for (int round = 0; round < kRounds; ++round) {
    const Affine before = map;
    if (!improve(fine, to.fine(), {}, map)) return false;
    if (moved(before, map, from.picture()) < kStill) break;
  }
  return is_sound(map);
}

// The weight of a block. It is small if all its slopes point one way, as along the edge of a frame
// or a trouser leg, which fits any other such edge. 1 - coherence^2 of the structure tensor (Bigun
// and Granlund 1987): 0 for an edge, 1 for a corner or a texture.
double two_ways(const Grid& grid, int block) {
  constexpr double kOfAnEdge = 0.02;
  const Plane& plane = grid.plane;
  const int right_end = std::min(plane.width - 1, grid.left_of(block) + grid.side);
  const int bottom = std::min(plane.height - 1, grid.top_of(block) + grid.side);
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (int y = std::max(1, grid.top_of(block)); y < bottom; ++y) {
    for (int x = std::max(1, grid.left_of(block)); x < right_end; ++x) {
      const double across = (plane.at(x + 1, y) - plane.at(x - 1, y)) / 2;
      const double down = (plane.at(x, y + 1) - plane.at(x, y - 1)) / 2;
      xx += across * across;
      yy += down * down;
      xy += across * down;
    }
  }
  const double trace = xx + yy;
  if (trace <= 0) return kOfAnEdge;
  const double coherence2 = ((xx - yy) * (xx - yy) + 4 * xy * xy) / (trace * trace);
  return kOfAnEdge + (1 - kOfAnEdge) * (1 - coherence2);
}

// `map` must not enlarge.
Evidence gather(const Registrable& from, const Registrable& to, const Affine& map) {
  constexpr double kNoise = 1.5;
  constexpr double kSharpest =
      2;  // contrast beyond which more does not count: a frame is not the picture
  Evidence evidence{.zoom = zoom_of(map), .stretch = stretch_of(map)};
  const bool softens = evidence.zoom < kSoftens;
  const Softened softened = softens ? soften(from, evidence.zoom) : Softened{};
  const Grid grid{.plane = softens ? softened.details : from.details(),
                  .side = evidence.zoom < 0.75 ? kMostSide : kBlockSide};
  std::vector<std::pair<double, double>> blocks;  // correlation, weight
  int inside = 0;
  double sum = 0;
  for (int i = 0; i < grid.count(); ++i) {
    const std::optional<ComparedBlock> upon = block_upon(grid, i, map, to.details(), kNoise);
    inside += upon ? 1 : 0;
    const ComparedBlock block = upon.value_or(ComparedBlock{});
    if (std::max(block.variance_a, block.variance_b) < kNoise) continue;
    const double contrast = std::sqrt(std::max(block.variance_a, block.variance_b));
    const double weight = (1 + std::min(contrast, kSharpest)) * two_ways(grid, i);
    blocks.emplace_back(block.correlation, weight);
    evidence.weight += weight;
    sum += weight * block.correlation;
  }
  evidence.overlap = static_cast<double>(inside) / grid.count();
  if (blocks.empty()) return evidence;
  evidence.mean = sum / evidence.weight;
  std::ranges::sort(blocks, std::greater());
  double best = 0;
  double best_sum = 0;
  for (const auto& [correlation, weight] : blocks) {
    if (best > 0.65 * evidence.weight) break;
    best += weight;
    best_sum += weight * correlation;
  }
  evidence.agreement = best_sum / best;
  return evidence;
}

}  // namespace

Registrable::Registrable(Plane picture)
    : picture_(std::move(picture)),
      coarse_(level_of(picture_, kCoarseSigma)),
      fine_(level_of(picture_, kFineSigma)),
      details_(difference(blurred(picture_, kPictureSigma), coarse_.values)) {}

Softened soften(const Registrable& picture, double zoom) {
  const double more = std::sqrt(1 / (zoom * zoom) - 1);
  Plane softened = blurred(picture.picture(), static_cast<float>(0.55 * more));
  Plane details = difference(softened, blurred(softened, static_cast<float>(kCoarseSigma / zoom)));
  return {std::move(softened), std::move(details)};
}

std::optional<Registration> register_pictures(const Registrable& from, const Registrable& to,
                                              const Affine& guess, const Place& around) {
  if (is_flat(guess)) return std::nullopt;
  // Starts from the picture that shows less, in which blocks cover small things.
  const bool enlarges = std::fabs(guess.determinant()) > 1;
  if (enlarges) {
    const Place there{.x = static_cast<float>(guess.x_of(around.x, around.y)),
                      .y = static_cast<float>(guess.y_of(around.x, around.y))};
    auto other = register_pictures(to, from, inverse(guess), there);
    if (other) other->map = inverse(other->map);
    return other;
  }
  Affine map = guess;
  if (!align(from, to, around, map)) return std::nullopt;
  return Registration{map, gather(from, to, map)};
}

}  // namespace winnow::dedup

#include "dedup/verify/registration.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "dedup/verify/solve_internal.h"

namespace winnow::dedup {
namespace {

constexpr float kCoarseSigma = 2.2F;
constexpr float kFineSigma = 1.0F;
constexpr float kPictureSigma = 0.5F;
constexpr int kBlockSide = 8;
constexpr double kMostStretch = 1.3;
constexpr double kLeastZoom = 0.2;  // of what can be compared at all

Registrable::Level level_of(const Plane& picture, float sigma) {
  Plane values = blurred(picture, sigma);
  Plane across = slope_x(values);
  Plane down = slope_y(values);
  return {std::move(values), std::move(across), std::move(down)};
}

// How to walk through the blocks of a plane.
struct Grid {
  const Plane& plane;
  int side = kBlockSide;
  int step = 1;  // between the pixels that are looked at

  int across() const { return (plane.width + side - 1) / side; }
  int down() const { return (plane.height + side - 1) / side; }
  int count() const { return across() * down(); }
  int left_of(int block) const { return block % across() * side; }
  int top_of(int block) const { return block / across() * side; }
  // Calls visit(x, y) for the pixels of a block.
  template <class Visit>
  void for_each_pixel(int block, const Visit& visit) const {
    const int right = std::min(plane.width, left_of(block) + side);
    const int bottom = std::min(plane.height, top_of(block) + side);
    for (int y = top_of(block); y < bottom; y += step) {
      for (int x = left_of(block); x < right; x += step) visit(x, y);
    }
  }
};

// One block of a plane beside what a map brings upon it.
struct Block {
  bool is_inside = false;  // of the other plane, for the most part
  double mean_a = 0;
  double mean_b = 0;
  double variance_a = 0;
  double variance_b = 0;
  double correlation = 0;  // less where there is little to see beside `noise`
};

Block compare(const Grid& grid, int block, const Plane& to, const Affine& map, double noise) {
  int all = 0;
  int seen = 0;
  double a_sum = 0;
  double b_sum = 0;
  double aa = 0;
  double bb = 0;
  double ab = 0;
  grid.for_each_pixel(block, [&](int x, int y) {
    ++all;
    const double to_x = map.x_of(x, y);
    const double to_y = map.y_of(x, y);
    if (!to.contains(to_x, to_y)) return;
    ++seen;
    const double a = grid.plane.at(x, y);
    const double b = sample(to, static_cast<float>(to_x), static_cast<float>(to_y));
    a_sum += a;
    b_sum += b;
    aa += a * a;
    bb += b * b;
    ab += a * b;
  });
  Block result;
  if (seen < 6 || seen * 5 < all * 3) return result;
  result.is_inside = true;
  result.mean_a = a_sum / seen;
  result.mean_b = b_sum / seen;
  result.variance_a = std::max(0.0, aa / seen - result.mean_a * result.mean_a);
  result.variance_b = std::max(0.0, bb / seen - result.mean_b * result.mean_b);
  result.correlation = (ab / seen - result.mean_a * result.mean_b) /
                       std::sqrt((result.variance_a + noise) * (result.variance_b + noise));
  return result;
}

// The normal equations of six numbers.
class Normal {
 public:
  // A residual and how it changes with each number.
  void add(double weight, const Vector<6>& slope, double residual) {
    for (std::size_t i = 0; i < 6; ++i) {
      const double scaled = weight * slope[i];
      for (std::size_t j = i; j < 6; ++j) left_[i][j] += scaled * slope[j];
      right_[i] -= scaled * residual;
    }
  }
  // A little damped; nothing if singular.
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

// Blocks near a place count most, by a Gaussian of `sigma` pixels; all alike where it is 0.
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

void add_block(const Grid& grid, int index, const Block& block, const Registrable::Level& to,
               const Affine& map, double weight, Normal& normal) {
  const double gain = std::sqrt(block.variance_a / block.variance_b);
  const double of_pixel = weight / (block.variance_a + 9);
  grid.for_each_pixel(index, [&](int x, int y) {
    const double to_x = map.x_of(x, y);
    const double to_y = map.y_of(x, y);
    if (!to.values.contains(to_x, to_y)) return;
    const auto at_x = static_cast<float>(to_x);
    const auto at_y = static_cast<float>(to_y);
    const double residual = gain * (sample(to.values, at_x, at_y) - block.mean_b) -
                            (grid.plane.at(x, y) - block.mean_a);
    const double dx = gain * sample(to.across, at_x, at_y);
    const double dy = gain * sample(to.down, at_x, at_y);
    normal.add(of_pixel, {dx * x, dx * y, dx, dy * x, dy * y, dy}, residual);
  });
}

// One step of Gauss-Newton. False where too little correlates.
bool improve(const Grid& grid, const Registrable::Level& to, const Attention& attention,
             Affine& map) {
  constexpr double kLeast = 0.15;  // correlation that counts at all
  constexpr double kFull = 0.6;    // that counts whole
  constexpr double kLeastTotal = 0.3;
  Normal normal;
  double total = 0;
  for (int i = 0; i < grid.count(); ++i) {
    const Block block = compare(grid, i, to.values, map, /*noise=*/2);
    if (!block.is_inside || block.correlation < kLeast || block.variance_a < 0.25 ||
        block.variance_b < 0.25) {
      continue;
    }
    const double linear = std::min(1.0, (block.correlation - kLeast) / (kFull - kLeast));
    const double middle = grid.side / 2.0;
    const double weight =
        linear * linear * attention.of(grid.left_of(i) + middle, grid.top_of(i) + middle);
    if (weight < 1e-3) continue;
    total += weight;
    add_block(grid, i, block, to, map, weight, normal);
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

bool is_sound(const Affine& map) {
  return std::fabs(map.determinant()) > kLeastZoom * kLeastZoom && stretch_of(map) < kMostStretch;
}

bool align(const Registrable& from, const Registrable& to, const Place& around, Affine& map) {
  constexpr int kRounds = 5;
  constexpr int kNearRounds = 2;  // in which only what is near the landmark counts
  constexpr double kNear = 14;
  const Grid coarse{.plane = from.coarse().values, .step = 2};
  for (int round = 0; round < kRounds; ++round) {
    const Attention attention{around.x, around.y, round < kNearRounds ? kNear : 0};
    if (!improve(coarse, to.coarse(), attention, map)) return false;
  }
  if (!is_sound(map)) return false;
  const Grid fine{.plane = from.fine().values};
  for (int round = 0; round < kRounds; ++round) {
    if (!improve(fine, to.fine(), {}, map)) return false;
  }
  return is_sound(map);
}

// Details of a picture as they would be at a scale: those of one that is shown smaller elsewhere.
Plane details_at(const Registrable& from, double zoom) {
  const double more = std::sqrt(1 / (zoom * zoom) - 1);
  const Plane softened = blurred(from.picture(), static_cast<float>(0.55 * more));
  return difference(softened, blurred(softened, static_cast<float>(kCoarseSigma / zoom)));
}

// `map` does not enlarge.
Evidence gather(const Registrable& from, const Registrable& to, const Affine& map) {
  constexpr double kNoise = 1.5;
  constexpr double kSharpest =
      2;  // contrast beyond which more says no more: a frame is not the picture
  Evidence evidence{.zoom = zoom_of(map), .stretch = stretch_of(map)};
  const bool softens = evidence.zoom < 0.93;
  const Plane softened = softens ? details_at(from, evidence.zoom) : Plane{};
  const Grid grid{.plane = softens ? softened : from.details(),
                  .side = evidence.zoom < 0.75 ? 10 : kBlockSide};
  std::vector<std::pair<double, double>> blocks;  // correlation, weight
  int inside = 0;
  double sum = 0;
  for (int i = 0; i < grid.count(); ++i) {
    const Block block = compare(grid, i, to.details(), map, kNoise);
    inside += block.is_inside ? 1 : 0;
    if (std::max(block.variance_a, block.variance_b) < kNoise) continue;
    const double contrast = std::sqrt(std::max(block.variance_a, block.variance_b));
    const double weight = 1 + std::min(contrast, kSharpest);
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

std::optional<Registration> register_pictures(const Registrable& from, const Registrable& to,
                                              const Affine& guess, const Place& around) {
  if (std::fabs(guess.determinant()) < 1e-6) return std::nullopt;
  // From the one that shows less, in which blocks are small things.
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

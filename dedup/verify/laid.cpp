#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>

#include "dedup/verify/laid_internal.h"

namespace winnow::dedup::better {
namespace {

// Rounds a position in or near a picture.
int nearest(double place) {
  constexpr int kFar = 1 << 20;
  return static_cast<int>(place + (kFar + 0.5)) - kFar;
}

// A pixel of a picture, and its position in another by a map of whole pixels.
struct LaidPixel {
  float value;
  int x;
  int y;
};
// Samples every fifth pixel in both directions.
std::vector<LaidPixel> laid_pixels(const Plane& onto, const Affine& map) {
  constexpr int kStep = 5;
  std::vector<LaidPixel> pixels;
  for (int y = kStep / 2; y < onto.height; y += kStep) {
    for (int x = kStep / 2; x < onto.width; x += kStep) {
      pixels.push_back({onto.at(x, y), nearest(map.x_of(x, y)), nearest(map.y_of(x, y))});
    }
  }
  return pixels;
}

// Correlation of these pixels with the aligned ones, shifted by (dx, dy).
double correlation(std::span<const LaidPixel> pixels, const Plane& other, int dx = 0, int dy = 0) {
  double n = 0, a = 0, b = 0, aa = 0, bb = 0, ab = 0;
  for (const LaidPixel& pixel : pixels) {
    const int x = pixel.x + dx;
    const int y = pixel.y + dy;
    if (x < 0 || y < 0 || x >= other.width || y >= other.height) continue;
    const double p = pixel.value;
    const double q = other.at(x, y);
    ++n;
    a += p, b += q, aa += p * p, bb += q * q, ab += p * q;
  }
  if (n < 64) return -1;
  const double of_a = aa - a * a / n;
  const double of_b = bb - b * b / n;
  return of_a > 0 && of_b > 0 ? (ab - a * b / n) / std::sqrt(of_a * of_b) : -1;
}

std::size_t step_of(float value) {
  return static_cast<std::size_t>(std::clamp(value, 0.0F, 255.0F) + 0.5F);
}
std::optional<double> shortest_half(std::span<const std::uint32_t> counts) {
  constexpr double kFewest = 24;
  double all = 0;
  for (const std::uint32_t count : counts) all += count;
  if (all < kFewest) return std::nullopt;
  double best = 0;
  std::size_t shortest = counts.size() + 1;
  double inside = 0;
  double sum = 0;
  std::size_t left = 0;
  for (std::size_t right = 0; right < counts.size(); ++right) {
    inside += counts[right];
    sum += static_cast<double>(right) * counts[right];
    while (inside - counts[left] >= all / 2) {
      inside -= counts[left];
      sum -= static_cast<double>(left) * counts[left];
      ++left;
    }
    if (inside < all / 2 || right - left + 1 >= shortest) continue;
    shortest = right - left + 1;
    best = sum / inside;
  }
  return best;
}

}  // namespace

Plane as_plane(const Image& gray) {
  return {gray.width_px, gray.height_px, {gray.pixels.begin(), gray.pixels.end()}};
}

Affine to_pixels(const Plane& plane) {
  return {.xx = static_cast<double>(plane.width),
          .x0 = -0.5,
          .yy = static_cast<double>(plane.height),
          .y0 = -0.5};
}

Affine pixel_map(const Affine& shares, const Plane& from, const Plane& to) {
  return after(to_pixels(to), after(shares, inverse(to_pixels(from))));
}
Affine share_map(const Affine& pixels, const Plane& from, const Plane& to) {
  return after(inverse(to_pixels(to)), after(pixels, to_pixels(from)));
}

Plane aligned_onto(const Plane& onto, const Plane& other, const Affine& map) {
  Plane out{onto.width, onto.height, std::vector<float>(onto.values.size(), kNothing)};
  const auto weights = [](float a) {
    return std::array<float, 4>{0.5F * a * (-1 + a * (2 - a)), 1 + 0.5F * a * a * (3 * a - 5),
                                0.5F * a * (1 + a * (4 - 3 * a)), 0.5F * a * a * (a - 1)};
  };
  for (int y = 0; y < onto.height; ++y) {
    float* const row = out.row(y);
    for (int x = 0; x < onto.width; ++x) {
      const double at_x = map.x_of(x, y);
      const double at_y = map.y_of(x, y);
      const int left = static_cast<int>(std::floor(at_x)) - 1;
      const int top = static_cast<int>(std::floor(at_y)) - 1;
      if (left < 0 || top < 0 || left + 3 >= other.width || top + 3 >= other.height) continue;
      const auto across = weights(static_cast<float>(at_x - (left + 1)));
      const auto down = weights(static_cast<float>(at_y - (top + 1)));
      float sum = 0;
      for (int j = 0; j < 4; ++j) {
        const float* const line = other.row(top + j) + left;
        sum += down[static_cast<std::size_t>(j)] * (across[0] * line[0] + across[1] * line[1] +
                                                    across[2] * line[2] + across[3] * line[3]);
      }
      row[x] = sum;
    }
  }
  return out;
}

Plane moved_onto(const Plane& onto, const Plane& other, const Affine& map) {
  Plane out{onto.width, onto.height, std::vector<float>(onto.values.size(), kNothing)};
  for (int y = 0; y < onto.height; ++y) {
    for (int x = 0; x < onto.width; ++x) {
      const int at_x = nearest(map.x_of(x, y));
      const int at_y = nearest(map.y_of(x, y));
      if (at_x < 0 || at_y < 0 || at_x >= other.width || at_y >= other.height) continue;
      out.row(y)[x] = other.at(at_x, at_y);
    }
  }
  return out;
}

std::optional<Affine> whole_pixel_map(const Plane& a, const Plane& b, const Affine& map) {
  constexpr double kOneScale = 0.03;
  constexpr double kTurned = 0.012;  // radians
  constexpr int kReach = 8;
  constexpr double kAlike = 0.4;
  Affine whole{.xx = std::round(map.xx),
               .xy = std::round(map.xy),
               .yx = std::round(map.yx),
               .yy = std::round(map.yy)};
  if (std::fabs(whole.determinant()) != 1) return std::nullopt;
  const auto is_near = [&](double x, double y) { return std::fabs(x - y) <= kOneScale; };
  if (!is_near(map.xx, whole.xx) || !is_near(map.xy, whole.xy) || !is_near(map.yx, whole.yx) ||
      !is_near(map.yy, whole.yy) || turn_of(map) > kTurned) {
    return std::nullopt;
  }
  // Around the centre of the common area.
  const Affine back = inverse(map);
  const double x = std::clamp(back.x_of(b.width / 2.0, b.height / 2.0), 0.0, a.width - 1.0);
  const double y = std::clamp(back.y_of(b.width / 2.0, b.height / 2.0), 0.0, a.height - 1.0);
  const double mid_x = (x + a.width / 2.0) / 2;
  const double mid_y = (y + a.height / 2.0) / 2;
  whole.x0 = std::round(map.x_of(mid_x, mid_y) - whole.x_of(mid_x, mid_y));
  whole.y0 = std::round(map.y_of(mid_x, mid_y) - whole.y_of(mid_x, mid_y));
  const std::vector<LaidPixel> pixels = laid_pixels(a, whole);
  std::optional<Affine> best;
  // Excludes maps that fit clearly worse than the given one, as when one picture is rotated by a
  // degree.
  constexpr double kAsGood = 0.003;
  double most = std::max(kAlike, correlation(laid_pixels(a, map), b) - kAsGood);
  for (int dy = -kReach; dy <= kReach; ++dy) {
    for (int dx = -kReach; dx <= kReach; ++dx) {
      const double alike = correlation(pixels, b, dx, dy);
      if (alike <= most) continue;
      most = alike;
      best = whole;
      best->x0 += dx;
      best->y0 += dy;
    }
  }
  return best;
}

double turn_of(const Affine& map) {
  constexpr double kQuarter = std::numbers::pi / 2;
  const double side = map.determinant() < 0 ? -1 : 1;
  const double turn = std::atan2(map.yx - side * map.xy, map.xx + side * map.yy);
  return std::fabs(turn - kQuarter * std::round(turn / kQuarter));
}

double middle_of(std::vector<float> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

Plane difference_where_seen(const Plane& picture, const Plane& upon) {
  Plane out = upon;
  for (std::size_t i = 0; i < out.values.size(); ++i) {
    if (out.values[i] != kNothing) out.values[i] = picture.values[i] - out.values[i];
  }
  return out;
}

Tones::Tones(const Plane& from, const Plane& to) {
  std::vector<std::uint32_t> joint(std::size_t{256} * 256);
  for (std::size_t i = 0; i < from.values.size(); ++i) {
    if (from.values[i] == kNothing || to.values[i] == kNothing) continue;
    ++joint[std::size_t{256} * step_of(from.values[i]) + step_of(to.values[i])];
  }
  int before = -1;
  for (int value = 0; value < 256; ++value) {
    const std::span<const std::uint32_t> counts =
        std::span(joint).subspan(std::size_t{256} * static_cast<std::size_t>(value), 256);
    const auto there = shortest_half(counts);
    if (!there) continue;
    at_[static_cast<std::size_t>(value)] = *there;
    for (int k = before + 1; k < value; ++k) {
      const double share = before < 0 ? 1 : static_cast<double>(k - before) / (value - before);
      const double left = before < 0 ? *there : at_[static_cast<std::size_t>(before)];
      at_[static_cast<std::size_t>(k)] = left + share * (*there - left);
    }
    before = value;
  }
  for (int k = before + 1; before >= 0 && k < 256; ++k) {
    at_[static_cast<std::size_t>(k)] = at_[static_cast<std::size_t>(before)];
  }
}

float Tones::operator()(float value) const {
  const float clamped = std::clamp(value, 0.0F, 255.0F);
  const auto whole = static_cast<std::size_t>(clamped);
  if (static_cast<float>(whole) == clamped) return static_cast<float>(at_[whole]);
  const auto left = std::min<std::size_t>(static_cast<std::size_t>(clamped), 254);
  return static_cast<float>(
      std::lerp(at_[left], at_[left + 1], double{clamped} - static_cast<double>(left)));
}

Plane Tones::of(Plane plane) const {
  for (float& value : plane.values) {
    if (value != kNothing) value = (*this)(value);
  }
  return plane;
}

}  // namespace winnow::dedup::better

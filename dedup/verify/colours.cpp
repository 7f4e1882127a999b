#include "dedup/verify/colours.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "common/resample.h"

namespace winnow::dedup {
namespace {

struct Chroma {
  double cb = 0;
  double cr = 0;
};

Chroma chroma_of(double red, double green, double blue) {
  return {-0.168736 * red - 0.331264 * green + 0.5 * blue,
          0.5 * red - 0.418688 * green - 0.081312 * blue};
}

// Bilinear, at a position in shares of the sides.
Chroma chroma_at(const Image& image, double x, double y) {
  const auto place = [](double share, int side_px) {
    const double at = std::clamp(share * side_px - 0.5, 0.0, side_px - 1.0);
    const int low = std::min(static_cast<int>(at), std::max(0, side_px - 2));
    return std::pair(low, at - low);
  };
  const auto [left, right] = place(x, image.width_px);
  const auto [top, below] = place(y, image.height_px);
  const auto value = [&, top = top, left = left](int down, int across, int channel) {
    const std::size_t row = static_cast<std::size_t>(std::min(top + down, image.height_px - 1));
    const std::size_t column =
        static_cast<std::size_t>(std::min(left + across, image.width_px - 1));
    return static_cast<double>(
        image.pixels[(row * static_cast<std::size_t>(image.width_px) + column) * 3 +
                     static_cast<std::size_t>(channel)]);
  };
  std::array<double, 3> rgb{};
  for (int c = 0; c < 3; ++c) {
    rgb[static_cast<std::size_t>(c)] =
        std::lerp(std::lerp(value(0, 0, c), value(0, 1, c), right),
                  std::lerp(value(1, 0, c), value(1, 1, c), right), below);
  }
  return chroma_of(rgb[0], rgb[1], rgb[2]);
}

// Corresponding colours, at places of `a` that are also in `b`.
using Laid = std::vector<std::pair<Chroma, Chroma>>;

Laid lay(const Image& a, const Image& b, const Affine& map) {
  Laid laid;
  for (int j = 0; j < kColourSide; ++j) {
    for (int i = 0; i < kColourSide; ++i) {
      const double x = (i + 0.5) / kColourSide;
      const double y = (j + 0.5) / kColourSide;
      const double to_x = map.x_of(x, y);
      const double to_y = map.y_of(x, y);
      if (to_x < 0 || to_y < 0 || to_x > 1 || to_y > 1) continue;
      laid.emplace_back(chroma_at(a, x, y), chroma_at(b, to_x, to_y));
    }
  }
  return laid;
}

// Maps the first colour of a pair to the second: a saturation and a cast.
struct Change {
  double saturation = 1;
  Chroma cast;

  double left_of(const std::pair<Chroma, Chroma>& pair) const {
    return std::hypot(pair.second.cb - saturation * pair.first.cb - cast.cb,
                      pair.second.cr - saturation * pair.first.cr - cast.cr);
  }
};

// Least squares over the places in `counts`.
Change fit(const Laid& laid, const std::vector<char>& counts) {
  constexpr double kMostSaturation = 2.5;
  double n = 0;
  Chroma from, to;
  for (std::size_t i = 0; i < laid.size(); ++i) {
    if (counts[i] == 0) continue;
    ++n;
    from = {from.cb + laid[i].first.cb, from.cr + laid[i].first.cr};
    to = {to.cb + laid[i].second.cb, to.cr + laid[i].second.cr};
  }
  from = {from.cb / n, from.cr / n};
  to = {to.cb / n, to.cr / n};
  double square = 0;
  double product = 0;
  for (std::size_t i = 0; i < laid.size(); ++i) {
    if (counts[i] == 0) continue;
    const Chroma x{laid[i].first.cb - from.cb, laid[i].first.cr - from.cr};
    square += x.cb * x.cb + x.cr * x.cr;
    product += x.cb * (laid[i].second.cb - to.cb) + x.cr * (laid[i].second.cr - to.cr);
  }
  Change change;
  change.saturation = square > 1e-6 ? std::clamp(product / square, 0.0, kMostSaturation) : 0;
  change.cast = {to.cb - change.saturation * from.cb, to.cr - change.saturation * from.cr};
  return change;
}

double quantile(std::vector<double> values, double share) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, at);
  return *at;
}

// The remaining difference that a share of the places does not exceed, after fitting four fifths of
// them. An overlay has colours of its own, so the worst places do not count.
double left_unexplained(const Laid& laid, double share) {
  constexpr int kRounds = 4;
  constexpr double kFitted = 0.8;
  std::vector<char> counts(laid.size(), 1);
  std::vector<double> left(laid.size());
  for (int round = 0; round < kRounds; ++round) {
    const Change change = fit(laid, counts);
    std::ranges::transform(laid, left.begin(),
                           [&](const auto& pair) { return change.left_of(pair); });
    const double most = quantile(left, kFitted);
    std::ranges::transform(left, counts.begin(), [&](double of) { return of <= most ? 1 : 0; });
  }
  return quantile(std::move(left), share);
}

}  // namespace

std::optional<Image> colours_of(ImageView image) {
  constexpr int kMostOfGray = 8;  // difference between channels: a gray JPEG may have a little
  if (image.channels != 3) return std::nullopt;
  Image small = resize(image, kColourSide, kColourSide, ResampleFilter::kBilinear);
  for (std::size_t i = 0; i < small.pixels.size(); i += 3) {
    const auto [least, most] =
        std::minmax({small.pixels[i], small.pixels[i + 1], small.pixels[i + 2]});
    if (most - least > kMostOfGray) return small;
  }
  return std::nullopt;
}

double colour_difference(const Image& a, const Image& b, const Affine& map, double share) {
  constexpr std::size_t kFewest = 48;
  const Laid laid = lay(a, b, map);
  if (laid.size() < kFewest) return 0;
  Laid back;
  back.reserve(laid.size());
  for (const auto& [of_a, of_b] : laid) back.emplace_back(of_b, of_a);
  // The picture with less of a colour leaves less unexplained, so both directions are tried and the
  // smaller result counts.
  return std::min(left_unexplained(laid, share), left_unexplained(back, share));
}

bool have_other_colours(const Image& a, const Image& b, const Affine& map, bool is_shown) {
  constexpr double kMost = 24;  // copies reach 18, where highlights are clipped
  constexpr double kOfShown = 0.95;
  constexpr double kUncovered = 0.7;
  return colour_difference(a, b, map, is_shown ? kOfShown : kUncovered) > kMost;
}

}  // namespace winnow::dedup

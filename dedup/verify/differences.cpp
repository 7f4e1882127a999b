#include "dedup/verify/differences.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace winnow::dedup {
namespace {

constexpr int kSide = 8;
// Border pixels that are skipped: blurring brings in what is not there.
constexpr int kEdge = 3;
constexpr std::size_t kFewest = 16;  // pixels of a block that both pictures must have
constexpr float kDetail = 2;         // minimum contrast of a block with details
constexpr float kNoise = 1.5F;       // variance
constexpr float kAgrees = 0.5F;      // correlation
constexpr float kOutlier = 1.6F;     // see Differences::outlier
constexpr std::size_t kRanked =
    // Rank of the block that counts, from the worst: one letter, not one dot.
    3;
constexpr float kFlat = 0.5F;    // gray values between neighbours
constexpr float kGround = 1.5F;  // gray values around the commonest

// Unexplained part of a copy's blocks: for any block, and at least this share of the contrast.
constexpr float kLeftOfAny = 1.5F;
constexpr float kLeastShare = 0.12F;

// The median; `values` must not be empty, and is reordered.
float middle_of(std::vector<float>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// A gray value of one picture, and the aligned value of the other.
using Tones = std::vector<std::pair<float, float>>;

// Maps gray values of one picture to those of another: medians of 32 steps, linear in between.
class ToneCurve {
 public:
  ToneCurve() = default;
  explicit ToneCurve(const Tones& tones) {
    std::array<std::vector<float>, kSteps> values;
    for (const auto& [from, to] : tones) {
      values[static_cast<std::size_t>(std::clamp(from / kWidth, 0.0F, kLast))].push_back(to);
    }
    std::optional<std::size_t> before;
    for (std::size_t i = 0; i < kSteps; ++i) {
      if (values[i].size() < kFewValues) continue;
      at_[i] = middle_of(values[i]);
      const std::size_t from = before.value_or(0);
      for (std::size_t k = from; k < i; ++k) {
        const float share = static_cast<float>(k - from) / static_cast<float>(i - from);
        at_[k] = before ? std::lerp(at_[from], at_[i], share) : at_[i];
      }
      before = i;
    }
    for (std::size_t k = before.value_or(0) + 1; before && k < kSteps; ++k) at_[k] = at_[*before];
  }

  float operator()(float value) const noexcept {
    const float place = std::clamp(value / kWidth - 0.5F, 0.0F, kLast);
    const auto left = std::min(static_cast<std::size_t>(place), kSteps - 2);
    return at_[left] + (place - static_cast<float>(left)) * (at_[left + 1] - at_[left]);
  }

 private:
  static constexpr std::size_t kSteps = 32;
  static constexpr float kLast = kSteps - 1;
  static constexpr float kWidth = 256.0F / kSteps;
  static constexpr std::size_t kFewValues = 8;
  std::array<float, kSteps> at_{};
};

bool is_within(const Plane& plane, float x, float y) noexcept {
  return x >= kEdge && y >= kEdge && x <= static_cast<float>(plane.width - 1 - kEdge) &&
         y <= static_cast<float>(plane.height - 1 - kEdge);
}

// Catmull-Rom weights of the four pixels around a place at `share` after the second. Softer weights
// would blur a letter depending on where it lies between two pixels.
std::array<float, 4> cubic_weights(float share) noexcept {
  const float a = share;
  return {0.5F * a * (-1 + a * (2 - a)), 1 + 0.5F * a * a * (3 * a - 5),
          0.5F * a * (1 + a * (4 - 3 * a)), 0.5F * a * a * (a - 1)};
}

// A position between pixels; two of them lie beyond it on each side.
class Between {
 public:
  Between(float x, float y) noexcept
      : left_(static_cast<int>(x) - 1),
        top_(static_cast<int>(y) - 1),
        across_(cubic_weights(x - static_cast<float>(left_ + 1))),
        down_(cubic_weights(y - static_cast<float>(top_ + 1))) {}

  float of(const Plane& plane) const noexcept {
    float sum = 0;
    for (int j = 0; j < 4; ++j) {
      const float* row = plane.row(top_ + j) + left_;
      sum += down_[static_cast<std::size_t>(j)] * (across_[0] * row[0] + across_[1] * row[1] +
                                                   across_[2] * row[2] + across_[3] * row[3]);
    }
    return sum;
  }

 private:
  int left_;
  int top_;
  std::array<float, 4> across_;
  std::array<float, 4> down_;
};
static_assert(kEdge >= 2);

// The other picture, resampled to the pixels of one.
struct LaidPictures {
  LaidPictures(const Plane& onto, const Registrable& other, const Affine& map)
      : picture{onto.width, onto.height, std::vector<float>(onto.values.size(), kNothing)},
        details(picture) {
    for (int y = 0; y < onto.height; ++y) {
      for (int x = 0; x < onto.width; ++x) {
        const auto at_x = static_cast<float>(map.x_of(x, y));
        const auto at_y = static_cast<float>(map.y_of(x, y));
        if (!is_within(other.picture(), at_x, at_y)) continue;
        const Between place(at_x, at_y);
        picture.row(y)[x] = place.of(other.picture());
        details.row(y)[x] = place.of(other.details());
      }
    }
  }

  static constexpr float kNothing = -1e9F;
  bool has(int x, int y) const noexcept {
    return x >= 0 && y >= 0 && x < picture.width && y < picture.height &&
           picture.at(x, y) != kNothing;
  }

  Plane picture;
  Plane details;
};

struct Pixel {
  int x = 0;
  int y = 0;
};

// Comparison of both pictures in a block.
struct Block {
  float contrast = 0;  // contrast of the picture with more
  float correlation = 0;
  float left = 0;  // unexplained, in gray values

  float expected(float share) const noexcept { return kLeftOfAny + share * contrast; }
};

// Sums over pairs of values.
struct Moments {
  float count = 0;
  float a = 0, b = 0, aa = 0, bb = 0, ab = 0;

  void add(float x, float y) noexcept {
    ++count;
    a += x, b += y, aa += x * x, bb += y * y, ab += x * y;
  }
  Block block() const noexcept {
    const float of_a = std::max(0.0F, aa / count - a / count * (a / count));
    const float of_b = std::max(0.0F, bb / count - b / count * (b / count));
    const float both = ab / count - a / count * (b / count);
    Block block{.contrast = std::sqrt(std::max(of_a, of_b)),
                .correlation = both / std::sqrt((of_a + kNoise) * (of_b + kNoise))};
    const float explained = std::max(0.0F, block.correlation);
    block.left = block.contrast * std::sqrt(std::max(0.0F, 1 - explained * explained));
    return block;
  }
};

// Compares blocks of `from` with the aligned picture.
class Blocks {
 public:
  Blocks(const Registrable& from, const Registrable& to, const Affine& map)
      : from_(zoom_of(map) < kSoftens ? soften(from, zoom_of(map))
                                      : Softened{from.picture(), from.details()}),
        laid_(from.picture(), to, map) {
    Tones values = tones();
    there_ = toned(from_.picture, ToneCurve(values));
    for (auto& [a, b] : values) std::swap(a, b);
    back_ = toned(laid_.picture, ToneCurve(values));
  }

  // The pixels of a block that are compared in both pictures.
  std::vector<Pixel> pixels_of(int left, int top) const {
    const Plane& plane = from_.picture;
    std::vector<Pixel> pixels;
    for (int y = top; y < std::min(plane.height, top + kSide); ++y) {
      for (int x = left; x < std::min(plane.width, left + kSide); ++x) {
        const bool is_seen =
            is_within(plane, static_cast<float>(x), static_cast<float>(y)) && laid_.has(x, y);
        if (is_seen) pixels.push_back({x, y});
      }
    }
    return pixels;
  }

  // The best of nine shifts; the first if it is good enough.
  Block compared(std::span<const Pixel> pixels) const {
    Block best = shifted(pixels, 0, 0);
    for (int shift = 0; shift < 9 && best.left > best.expected(kLeastShare); ++shift) {
      if (shift == kNoShift) continue;
      const Block other = shifted(pixels, shift % 3 - 1, shift / 3 - 1);
      best.left = std::min(best.left, other.left);
      best.correlation = std::max(best.correlation, other.correlation);
    }
    return best;
  }

 private:
  Tones tones() const {
    const Plane& plane = from_.picture;
    Tones tones;
    for (int y = 0; y < plane.height; ++y) {
      for (int x = 0; x < plane.width; ++x) {
        if (laid_.has(x, y)) tones.emplace_back(plane.at(x, y), laid_.picture.at(x, y));
      }
    }
    return tones;
  }

  static Plane toned(Plane plane, const ToneCurve& curve) {
    for (float& value : plane.values) value = curve(value);
    return plane;
  }

  // All pixels are at least kEdge from the border.
  Block shifted(std::span<const Pixel> pixels, int dx, int dy) const {
    Moments details;
    float there = 0;
    float back = 0;
    for (const Pixel& pixel : pixels) {
      const auto here = static_cast<std::size_t>(pixel.y * from_.picture.width + pixel.x);
      const auto upon =
          static_cast<std::size_t>((pixel.y + dy) * from_.picture.width + pixel.x + dx);
      const float b = laid_.picture.values[upon];
      if (b == LaidPictures::kNothing) continue;
      details.add(from_.details.values[here], laid_.details.values[upon]);
      const float to_b = there_.values[here] - b;
      const float to_a = back_.values[upon] - from_.picture.values[here];
      there += to_b * to_b;
      back += to_a * to_a;
    }
    if (details.count < static_cast<float>(kFewest)) return {.left = kLeftOfNothing};
    Block block = details.block();
    const float by_tone = std::sqrt(std::min(there, back) / details.count);
    block.left = std::min(block.left, by_tone);
    return block;
  }

  static constexpr float kLeftOfNothing = 1e9F;
  static constexpr int kNoShift = 4;  // index of no shift among nine
  const Softened from_;
  const LaidPictures laid_;
  Plane there_;  // the pixels of one in the tones of the other, and vice versa
  Plane back_;
};

// The gray value around which most pixels lie.
float commonest(const Plane& plane) {
  constexpr int kReach = 1;
  std::array<int, 256 + 2 * kReach> counts{};
  for (const float value : plane.values) {
    ++counts[static_cast<std::size_t>(std::clamp(value, 0.0F, 255.0F) + 0.5F) + kReach];
  }
  int most = -1;
  int best = 0;
  for (int value = 0; value < 256; ++value) {
    int here = 0;
    for (int k = value; k <= value + 2 * kReach; ++k) here += counts[static_cast<std::size_t>(k)];
    if (here > most) best = value;
    most = std::max(most, here);
  }
  return static_cast<float>(best);
}

// Mask of plain pixels: 1 if a pixel is like its neighbours or has about the commonest gray value,
// else 0.
class Plainness {
 public:
  explicit Plainness(const Plane& plane) : width_(plane.width), is_plain_(plane.values.size()) {
    const float ground = commonest(plane);
    for (int y = 0; y < plane.height; ++y) {
      const float* here = plane.row(y);
      const float* below = plane.row(std::min(y + 1, plane.height - 1));
      std::uint8_t* out = is_plain_.data() + std::ptrdiff_t{y} * width_;
      for (int x = 0; x < plane.width; ++x) {
        const float right = here[std::min(x + 1, plane.width - 1)];
        const bool is_flat =
            std::fabs(here[x] - right) < kFlat && std::fabs(here[x] - below[x]) < kFlat;
        out[x] = std::fabs(here[x] - ground) <= kGround || is_flat ? 1 : 0;
      }
    }
  }

  int at(int x, int y) const noexcept {
    return is_plain_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                     static_cast<std::size_t>(x)];
  }

 private:
  int width_;
  std::vector<std::uint8_t> is_plain_;
};

// A block, and how plain both pictures are there.
struct Seen {
  Block block;
  double plain = 0;  // share of plain pixels, in the picture with fewer
};

double mean_of(std::span<const Seen> seen) {
  double sum = 0;
  for (const Seen& one : seen) sum += one.plain;
  return sum / static_cast<double>(seen.size());
}

std::vector<Seen> blocks_between(const Registrable& from, const Registrable& to,
                                 const Affine& map) {
  const Blocks blocks(from, to, map);
  const Plainness of_a(from.picture());
  const Plainness of_b(to.picture());
  std::vector<Seen> seen;
  for (int top = 0; top < from.picture().height; top += kSide) {
    for (int left = 0; left < from.picture().width; left += kSide) {
      const std::vector<Pixel> pixels = blocks.pixels_of(left, top);
      if (pixels.size() < kFewest) continue;
      int plain_a = 0;
      int plain_b = 0;
      for (const auto& [x, y] : pixels) {
        plain_a += of_a.at(x, y);
        plain_b +=
            of_b.at(static_cast<int>(map.x_of(x, y) + 0.5), static_cast<int>(map.y_of(x, y) + 0.5));
      }
      seen.push_back({blocks.compared(pixels),
                      std::min(plain_a, plain_b) / static_cast<double>(pixels.size())});
    }
  }
  return seen;
}

// `map` must not enlarge.
Differences differences_from(const Registrable& from, const Registrable& to, const Affine& map) {
  std::vector<Seen> seen = blocks_between(from, to, map);
  Differences out;
  if (seen.empty()) return out;
  out.plain = mean_of(seen);
  std::erase_if(seen, [](const Seen& one) { return one.block.contrast < kDetail; });
  out.blocks = static_cast<int>(seen.size());
  if (seen.empty()) return out;
  std::vector<float> shares;
  for (const Seen& one : seen) shares.push_back(one.block.left / one.block.contrast);
  const float share = middle_of(shares);
  out.unexplained = share;
  const float expected = std::max(share, kLeastShare);
  const auto outlier = [&](const Seen& one) {
    return one.block.left / one.block.expected(expected);
  };
  std::ranges::sort(seen, std::greater(), outlier);
  out.outlier = outlier(seen[std::min(kRanked, seen.size()) - 1]);
  const auto agrees = [&](const Seen& one) {
    return one.block.correlation >= kAgrees && outlier(one) < kOutlier;
  };
  std::vector<Seen> alike;
  std::ranges::copy_if(seen, std::back_inserter(alike), agrees);
  if (!alike.empty()) out.plain_alike = mean_of(alike);
  return out;
}

// Permitted differences of a copy.
struct Limits {
  double outlier = 0;
  double unexplained = 0;
};

bool is_within(const Limits& limits, const Differences& differences) noexcept {
  constexpr int kFewBlocks = 8;  // too few to decide
  return differences.blocks >= kFewBlocks && differences.outlier <= limits.outlier &&
         differences.unexplained <= limits.unexplained;
}

// Strong compression of a low-contrast picture leaves half of it unexplained, but no block stands
// out.
bool is_even(const Differences& close) noexcept {
  return is_within({.outlier = 0.8, .unexplained = 0.6}, close);
}

}  // namespace

bool is_plain(const Differences& differences) noexcept {
  constexpr double kPlain = 0.15;
  constexpr double kPlainAlike = 0.17;
  return differences.plain >= kPlain && differences.plain_alike >= kPlainAlike;
}

bool is_half_plain(const Differences& differences) noexcept {
  constexpr double kHalf = 0.09;
  return differences.plain >= kHalf && differences.plain_alike >= kHalf;
}

bool is_rich(const Differences& differences) noexcept {
  constexpr double kPlain = 0.05;
  constexpr double kUnexplained = 0.33;
  return differences.plain < kPlain && differences.unexplained < kUnexplained;
}

bool is_copy_by_thumbnails(const Differences& thumbnails) noexcept {
  return is_within({.outlier = 0.85, .unexplained = 0.2}, thumbnails);
}

bool is_sure_by_close(const Differences& close) noexcept {
  return is_within({.outlier = 1.6, .unexplained = 0.25}, close);
}

bool is_copy_by_close(const Differences& close) noexcept {
  return is_sure_by_close(close) || is_within({.outlier = 1, .unexplained = 0.4}, close) ||
         is_even(close);
}

bool is_copy_by_both(const Differences& close, const Differences& fine) noexcept {
  // If all else agrees well, sharp edges of letters may be off by a pixel in a few blocks.
  return (is_within({.outlier = 2.2, .unexplained = 0.4}, close) &&
          is_within({.outlier = 1.8, .unexplained = 0.4}, fine)) ||
         (is_within({.outlier = 1.5, .unexplained = 0.25}, close) &&
          is_within({.outlier = 2.5, .unexplained = 0.25}, fine)) ||
         (is_even(close) && is_within({.outlier = 1.2, .unexplained = 0.7}, fine));
}

bool is_worth_a_closer_look(const Differences& thumbnails) noexcept {
  return is_within({.outlier = 2.2, .unexplained = 0.65}, thumbnails);
}

bool is_worth_a_fine_look(const Differences& close) noexcept {
  return is_within({.outlier = 2.2, .unexplained = 0.4}, close) || is_even(close);
}

Differences differences_between(const Registrable& a, const Registrable& b, const Affine& map) {
  if (std::fabs(map.determinant()) < 1e-6) return {};
  if (std::fabs(map.determinant()) > 1) return differences_from(b, a, inverse(map));
  return differences_from(a, b, map);
}

}  // namespace winnow::dedup

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <numbers>
#include <utility>

#include "dedup/verify/laid_internal.h"
#include "dedup/verify/rounding_internal.h"

namespace winnow::dedup::better {
namespace {

// The cosine of a frequency at each pixel of a block, along one axis.
using Cosines = std::array<std::array<float, kSide>, kMostOrder + 1>;
const Cosines& cosines() {
  static const Cosines kTable = [] {
    Cosines table{};
    for (std::size_t u = 0; u <= kMostOrder; ++u) {
      for (std::size_t x = 0; x < kSide; ++x) {
        const double angle = (2.0 * static_cast<double>(x) + 1) * static_cast<double>(u) *
                             std::numbers::pi / (2 * kSide);
        table[u][x] = static_cast<float>(std::cos(angle) * (u == 0 ? std::sqrt(0.125) : 0.5));
      }
    }
    return table;
  }();
  return kTable;
}

// Calls `take` with the number and the corner of each block at multiples of 8, row by row.
template <typename Take>
void each_block(const Plane& plane, Take&& take) {
  std::size_t number = 0;
  for (int top = 0; top + kSide <= plane.height; top += kSide) {
    for (int left = 0; left + kSide <= plane.width; left += kSide) take(number++, left, top);
  }
}

// Coefficients of the blocks in `are_wanted` (by number); of all if it is empty.
Coefficients coefficients(const Plane& plane, const std::vector<char>& are_wanted = {}) {
  const Cosines& table = cosines();
  Coefficients out;
  each_block(plane, [&](std::size_t number, int left, int top) {
    if (!are_wanted.empty() && !are_wanted[number]) return;
    // Columns first, so that the pixels of a row are processed together.
    std::array<std::array<float, kSide>, kMostOrder + 1> down{};
    for (std::size_t y = 0; y < kSide; ++y) {
      const float* const row = plane.row(top + static_cast<int>(y)) + left;
      for (std::size_t v = 0; v <= kMostOrder; ++v) {
        for (std::size_t x = 0; x < kSide; ++x) down[v][x] += table[v][y] * row[x];
      }
    }
    std::size_t k = 0;
    for (std::size_t v = 0; v <= kMostOrder; ++v) {
      for (std::size_t u = v == 0 ? 1 : 0; u + v <= kMostOrder; ++u) {
        float sum = 0;
        for (std::size_t x = 0; x < kSide; ++x) sum += table[u][x] * down[v][x];
        out[k++].push_back(sum);
      }
    }
  });
  return out;
}

// Selects the coefficients of some blocks.
Coefficients of_blocks(const Coefficients& all, const std::vector<char>& are_wanted) {
  Coefficients out;
  for (std::size_t k = 0; k < kFrequencies; ++k) {
    for (std::size_t i = 0; i < are_wanted.size(); ++i) {
      if (are_wanted[i]) out[k].push_back(all[k][i]);
    }
  }
  return out;
}

// The cosine of a number of turns, to 1e-4.
float cosine_of_turns(float turns) {
  const float part = turns - std::nearbyint(turns);
  const float x = part * part;  // up to 1/4; Taylor's series of cos(2 pi part)
  return 1 +
         x * (-19.7392088F +
              x * (64.9393940F +
                   x * (-85.4568172F + x * (60.2446414F + x * (-26.4262568F + x * 7.9035364F)))));
}

class StepScores {
 public:
  static constexpr int kMost = 48;
  static constexpr double kBin = 0.25;
  static constexpr std::size_t kBins = 1600;

  StepScores() : cosines_(std::size_t{kMost + 1} * kBins) {
    for (std::size_t step = 2; step <= kMost; ++step) {
      for (std::size_t i = 0; i < kBins; ++i) {
        const double value = static_cast<double>(i) * kBin;
        cosines_[step * kBins + i] =
            static_cast<float>(std::cos(2 * std::numbers::pi * value / static_cast<double>(step)));
      }
    }
  }

  int step_of(const std::vector<float>& values) const {
    constexpr double kAgrees = 0.8;
    constexpr double kRounding = 0.16;  // variance of a coefficient's error from rounding pixels
    std::vector<float> counts(kBins);
    for (const float value : values) {
      const auto bin = static_cast<std::size_t>(std::fabs(value) / kBin + 0.5);
      if (bin < kBins && bin >= 4) ++counts[bin];
    }
    int best = 1;
    for (std::size_t step = 2; step <= kMost; ++step) {
      double sum = 0;
      double count = 0;
      for (auto i = static_cast<std::size_t>(0.6 * static_cast<double>(step) / kBin); i < kBins;
           ++i) {
        count += counts[i];
        sum += counts[i] * cosines_[step * kBins + i];
      }
      if (count < kFewBlocks) break;
      const double whole = static_cast<double>(step);
      const double expected =
          std::exp(-2 * std::numbers::pi * std::numbers::pi * kRounding / (whole * whole));
      if (sum / count > kAgrees * expected) best = static_cast<int>(step);
    }
    return best;
  }

 private:
  std::vector<float> cosines_;
};

Steps steps_of(const Coefficients& of_picture) {
  static const StepScores kScores;
  Steps steps{};
  for (std::size_t k = 0; k < kFrequencies; ++k) steps[k] = kScores.step_of(of_picture[k]);
  return steps;
}

// How well coefficients that are not rounded to 0 fit a step, and their number.
struct Agreement {
  double mean = 0;
  double count = 0;
};
Agreement agreement(const std::vector<float>& values, int step) {
  Agreement out;
  for (const float value : values) {
    if (std::fabs(value) < 0.6 * step) continue;
    ++out.count;
    out.mean += cosine_of_turns(value / static_cast<float>(step));
  }
  out.mean /= std::max(1.0, out.count);
  return out;
}

// For each block, whether both pictures show it and differ no more than compression explains.
std::vector<char> are_unaltered(const Plane& picture, const Plane& toned) {
  const std::vector<DifferentBlock> blocks =
      different_blocks(picture, difference_where_seen(picture, toned));
  const float usual = usual_off(blocks);
  const auto across = static_cast<std::size_t>(picture.width / kSide);
  std::vector<char> out(across * static_cast<std::size_t>(picture.height / kSide));
  for (const DifferentBlock& block : blocks) {
    if (block.off > 3 * usual && block.off > 0.4F * block.contrast) continue;
    out[static_cast<std::size_t>(block.top / kSide) * across +
        static_cast<std::size_t>(block.left / kSide)] = true;
  }
  return out;
}

}  // namespace

Compressed::Compressed(const Plane& picture)
    : plane(picture), values(coefficients(plane)), steps(steps_of(values)), agrees{} {
  for (std::size_t k = 0; k < kFrequencies; ++k) agrees[k] = agreement(values[k], steps[k]).mean;
}

std::vector<DifferentBlock> different_blocks(const Plane& picture, const Plane& difference) {
  std::vector<DifferentBlock> blocks;
  for (int top = 0; top + kSide <= picture.height; top += kSide) {
    for (int left = 0; left + kSide <= picture.width; left += kSide) {
      float sum = 0, squares = 0, off = 0;
      bool is_seen = true;
      for (int y = top; y < top + kSide; ++y) {
        for (int x = left; x < left + kSide; ++x) {
          const float value = picture.at(x, y);
          const float left_over = difference.at(x, y);
          is_seen = is_seen && left_over != kNothing;
          sum += value, squares += value * value, off += left_over * left_over;
        }
      }
      if (!is_seen) continue;
      constexpr float kPixels = kSide * kSide;
      const float mean = sum / kPixels;
      blocks.push_back({left, top, std::sqrt(off / kPixels),
                        std::sqrt(std::max(0.0F, squares / kPixels - mean * mean))});
    }
  }
  return blocks;
}
float usual_off(const std::vector<DifferentBlock>& blocks) {
  std::vector<float> offs;
  for (const DifferentBlock& block : blocks) offs.push_back(block.off);
  return offs.empty() ? 0 : static_cast<float>(middle_of(std::move(offs)));
}

double altered_share(const Plane& a, const Plane& b, const Affine& map) {
  constexpr double kPixels = 16'000;
  constexpr float kLeast = 12;
  const double share =
      std::min(1.0, std::sqrt(kPixels / (static_cast<double>(a.width) * a.height)));
  Plane small{std::max(kSide, static_cast<int>(a.width * share)),
              std::max(kSide, static_cast<int>(a.height * share)),
              {}};
  const Plane soft_a = blurred(a, static_cast<float>(std::max(0.5, 0.5 / share)));
  const Plane soft_b = blurred(b, static_cast<float>(std::max(0.5, 0.5 * zoom_of(map) / share)));
  const Affine from_small = after(to_pixels(a), inverse(to_pixels(small)));
  small.values.resize(static_cast<std::size_t>(small.width) *
                      static_cast<std::size_t>(small.height));
  Plane upon = small;
  const Affine from_small_to_b = after(map, from_small);
  for (int y = 0; y < small.height; ++y) {
    for (int x = 0; x < small.width; ++x) {
      small.row(y)[x] = sample(soft_a, static_cast<float>(from_small.x_of(x, y)),
                               static_cast<float>(from_small.y_of(x, y)));
      const double at_x = from_small_to_b.x_of(x, y);
      const double at_y = from_small_to_b.y_of(x, y);
      upon.row(y)[x] = b.contains(at_x, at_y)
                           ? sample(soft_b, static_cast<float>(at_x), static_cast<float>(at_y))
                           : kNothing;
    }
  }
  // In the tones of either, because lost tones only map in one direction.
  double least = 1;
  for (const auto& [onto, other] : {std::pair(&small, &upon), std::pair(&upon, &small)}) {
    const Plane toned = Tones(*other, *onto).of(*other);
    Plane difference = difference_where_seen(*onto, toned);
    for (std::size_t k = 0; k < difference.values.size(); ++k) {
      if (upon.values[k] == kNothing) difference.values[k] = kNothing;
    }
    const std::vector<DifferentBlock> blocks = different_blocks(*onto, difference);
    if (blocks.empty()) return 0;
    const float usual = usual_off(blocks);
    const auto altered = std::ranges::count_if(blocks, [&](const DifferentBlock& block) {
      return block.off > std::max(kLeast, 3 * usual);
    });
    least = std::min(least, static_cast<double>(altered) / static_cast<double>(blocks.size()));
  }
  return least;
}

BesideUpon::BesideUpon(const Compressed& of, const Plane& toned) : picture(of) {
  const std::vector<char> are_wanted = are_unaltered(picture.plane, toned);
  here = of_blocks(picture.values, are_wanted);
  upon = coefficients(toned, are_wanted);
}

std::optional<double> left_by_rounding(const BesideUpon& both) {
  std::vector<float> ratios;
  for (std::size_t k = 0; k < kFrequencies; ++k) {
    const int step = both.picture.steps[k];
    std::vector<float> amounts;
    for (std::size_t i = 0; i < both.here[k].size(); ++i) {
      if (std::fabs(both.here[k][i]) > 0.6 * std::max(step * 1.0, 1.5)) {
        amounts.push_back(std::fabs(both.here[k][i] - both.upon[k][i]));
      }
    }
    if (amounts.size() < kFewBlocks) continue;
    const double amount = std::max(middle_of(std::move(amounts)), 0.02);
    ratios.push_back(static_cast<float>(std::log(amount / std::hypot(step / 4.0, 0.25))));
  }
  constexpr std::size_t kFewest = 3;
  if (ratios.size() < kFewest) return std::nullopt;
  return middle_of(std::move(ratios));
}

MadeOf made_of(const BesideUpon& one, const BesideUpon& other, bool are_blocks_alike) {
  constexpr double kLeast = 10;  // minimum for a frequency
  constexpr int kSeen = 3;       // finer steps are lost by the next compression
  MadeOf out;
  double sum = 0;
  for (std::size_t k = 0; k < kFrequencies; ++k) {
    const int step = other.picture.steps[k];
    const int own = one.picture.steps[k];
    if (step < kSeen) continue;
    // Multiples of its own steps are multiples of the other's in any case.
    if (are_blocks_alike && own > 1 && own != step && (step % own == 0 || own % step == 0))
      continue;
    const Agreement there = agreement(other.upon[k], step);
    if (there.count < kFewBlocks) continue;
    // Its own rounding, with a variance of step^2 / 12, blurs the steps of the other.
    const double ratio = std::numbers::pi * own / step;
    const double expected = other.picture.agrees[k] * std::exp(-ratio * ratio / 6);
    const double weight = there.count * expected * expected;
    if (weight < kLeast) continue;
    sum += there.count * there.mean * expected;
    out.weight += weight;
    ++out.frequencies;
  }
  if (out.weight > 0) out.shows = sum / out.weight;
  out.left = left_by_rounding(one);
  return out;
}

std::optional<bool> is_earlier(const Compressed& a, const Compressed& b) {
  constexpr int kCoarser = 3;  // in all
  constexpr double kMore = 0.02;
  constexpr double kFewestValues = 3000;
  int coarser = 0;
  double sum = 0;
  double count = 0;
  for (std::size_t k = 0; k < kFrequencies; ++k) {
    coarser += a.steps[k] - b.steps[k];
    if (a.steps[k] != b.steps[k] || a.steps[k] < 2) continue;
    const auto values = static_cast<double>(a.values[k].size());
    sum += values * (a.agrees[k] - b.agrees[k]);
    count += values;
  }
  if (std::abs(coarser) >= kCoarser) return coarser > 0;
  if (count < kFewestValues || std::fabs(sum) < kMore * count) return std::nullopt;
  return sum > 0;
}

}  // namespace winnow::dedup::better

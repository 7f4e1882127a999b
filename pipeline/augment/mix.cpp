#include "pipeline/augment/mix.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "common/simd.h"
#include "pipeline/augment/sampling.h"

namespace winnow::pipeline {
namespace {

constexpr double kParts = 65536;

// Draws from Beta(alpha, alpha) with two uniform numbers: a Student's t of 2 alpha degrees by
// Bailey's polar method ("Polar generation of random variates with the t-distribution", 1994),
// mapped to (0, 1).
double symmetric_beta(double alpha, Draws& draws) {
  const double u = double{draws.uniform()} + 0x1.0p-25;  // never 0
  const double cosine = std::cos(2 * std::numbers::pi * (double{draws.uniform()} + 0x1.0p-25));
  const double t2 = std::expm1(-std::log(u) / alpha) * cosine * cosine;
  const double half = 0.5 / std::sqrt(1 + 1 / t2);
  return cosine < 0 ? 0.5 - half : 0.5 + half;
}

[[gnu::always_inline]] inline void blend_by(std::uint8_t* to, const std::uint8_t* from,
                                            std::size_t bytes, std::uint32_t own) {
  for (std::size_t i = 0; i < bytes; ++i) {
    to[i] = static_cast<std::uint8_t>((to[i] * own + from[i] * (65536 - own) + 32768) >> 16);
  }
}
#if defined(__x86_64__)
[[gnu::target("avx2")]] void blend_avx2(std::uint8_t* to, const std::uint8_t* from,
                                        std::size_t bytes, std::uint32_t own) {
  blend_by(to, from, bytes, own);
}
#endif

// In integers, for the same result on every machine.
void blend(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes, std::uint32_t own) {
#if defined(__x86_64__)
  if (widest_simd() >= Simd::kAvx2) return blend_avx2(to, from, bytes, own);
#endif
  blend_by(to, from, bytes, own);
}

}  // namespace

Mix cutmix(double own, int height_px, int width_px, int centre_y, int centre_x) {
  const double half = 0.5 * std::sqrt(1 - own);
  const int half_y = static_cast<int>(half * height_px);
  const int half_x = static_cast<int>(half * width_px);
  const int top = std::max(centre_y - half_y, 0);
  const int left = std::max(centre_x - half_x, 0);
  const Box box{top, left, std::min(centre_y + half_y, height_px) - top,
                std::min(centre_x + half_x, width_px) - left};
  const double pasted = static_cast<double>(box.height_px) * box.width_px;
  return {1 - pasted / (static_cast<double>(height_px) * width_px), box};
}

std::optional<Mix> random_mix(const Mixing& options, int height_px, int width_px, Draws& draws) {
  const bool both = options.mixup.alpha > 0 && options.cutmix.alpha > 0;
  const bool cuts = both ? draws.below(2) == 1 : options.cutmix.alpha > 0;
  const Mixing::Kind& kind = cuts ? options.cutmix : options.mixup;
  if (kind.alpha <= 0 || !happens(kind.probability, draws)) return std::nullopt;
  const double own = std::floor(symmetric_beta(kind.alpha, draws) * kParts + 0.5) / kParts;
  if (!cuts) return Mix{own, std::nullopt};
  const auto centre_x = static_cast<int>(draws.below(static_cast<std::uint32_t>(width_px)));
  const auto centre_y = static_cast<int>(draws.below(static_cast<std::uint32_t>(height_px)));
  return cutmix(own, height_px, width_px, centre_y, centre_x);
}

void mix_rows(PixelSpan first, std::size_t pictures, const std::uint8_t* before, int from, int to,
              const Mix& how) {
  Box box{from, 0, to - from, first.width_px};
  if (how.box) {
    box = *how.box;
    box.height_px = std::min(to, box.top + box.height_px) - std::max(from, box.top);
    box.top = std::max(from, box.top);
    if (box.height_px <= 0) return;
  }
  const auto channels = static_cast<std::size_t>(first.channels);
  const std::size_t offset = static_cast<std::size_t>(box.top) * first.row_bytes() +
                             static_cast<std::size_t>(box.left) * channels;
  // Without a box, treat all rows as one.
  const bool whole = !how.box;
  const auto lines = static_cast<std::size_t>(whole ? 1 : box.height_px);
  const std::size_t bytes = whole ? static_cast<std::size_t>(box.height_px) * first.row_bytes()
                                  : static_cast<std::size_t>(box.width_px) * channels;
  const auto own = static_cast<std::uint32_t>(how.own * kParts);
  const auto mix = [&](std::uint8_t* own_rows, const std::uint8_t* other) {
    for (std::size_t line = 0; line < lines; ++line) {
      const std::size_t at = line * first.row_bytes();
      if (whole) {
        blend(own_rows + at, other + at, bytes, own);
      } else {
        std::copy_n(other + at, bytes, own_rows + at);
      }
    }
  };
  const auto rows = [&](std::size_t picture) {
    return first.data + picture * first.size() + offset;
  };
  // From last to first, so that each predecessor is still unmixed.
  std::vector<std::uint8_t> of_last;
  const std::uint8_t* of_before = before == nullptr ? nullptr : before + offset;
  if (of_before == nullptr) {
    const std::size_t span = (lines - 1) * first.row_bytes() + bytes;
    of_last.assign(rows(pictures - 1), rows(pictures - 1) + span);
    of_before = of_last.data();
  }
  for (std::size_t i = pictures; i-- > 0;) mix(rows(i), i > 0 ? rows(i - 1) : of_before);
}

}  // namespace winnow::pipeline

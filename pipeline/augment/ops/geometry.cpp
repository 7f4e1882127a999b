#include "pipeline/augment/ops/geometry.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

namespace winnow::pipeline {
namespace {

using Byte = std::uint8_t;

// Python's round(value, 15). It also hides differences between machines in the last bits of sine
// and cosine.
double to_15_places(double value) noexcept {
  std::array<char, 32> text{};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, 15);
  double rounded = value;
  if (error == std::errc()) std::from_chars(text.data(), end, rounded);
  return rounded;
}

// The source position for `at` on a reflected axis: 2 1 0 1 2 ..., as in NumPy's pad.
int reflected(int at, int size) noexcept {
  if (at >= 0 && at < size) return at;
  if (size == 1) return 0;
  const int period = 2 * (size - 1);
  at = ((at % period) + period) % period;
  return std::min(at, period - at);
}

template <int kChannels>
void put(const Byte* from, Byte* to) noexcept {
  for (int c = 0; c < kChannels; ++c) to[c] = from[c];
}

// Moves whole pixels right and down.
void move(ImageView in, std::int64_t right, std::int64_t down, PixelSpan out) noexcept {
  const std::int64_t width = in.width_px;
  const std::int64_t first = std::clamp<std::int64_t>(right, 0, width);
  const std::int64_t last = std::clamp<std::int64_t>(width + right, first, width);
  for (int y = 0; y < in.height_px; ++y) {
    Byte* const to = out.row(y);
    const std::int64_t from_y = y - down;
    if (from_y < 0 || from_y >= in.height_px || first == last) {
      std::fill_n(to, out.row_bytes(), Byte{0});
      continue;
    }
    const Byte* const from = in.row(static_cast<int>(from_y)) + (first - right) * in.channels;
    std::fill(to, to + first * in.channels, Byte{0});
    std::copy_n(from, (last - first) * in.channels, to + first * in.channels);
    std::fill(to + last * in.channels, to + width * in.channels, Byte{0});
  }
}

// Fixed point with 16 fractional bits.
std::int64_t fixed(double value) noexcept {
  return static_cast<std::int64_t>(std::floor(value * 65536.0 + 0.5));
}

template <int kChannels>
void transform_nearest(ImageView in, const Affine& m, PixelSpan out) noexcept {
  const std::int64_t step_x = fixed(m.a);
  const std::int64_t step_y = fixed(m.d);
  const std::int64_t down_x = fixed(m.b);
  const std::int64_t down_y = fixed(m.e);
  std::int64_t row_x = fixed(m.c + m.a * 0.5 + m.b * 0.5);
  std::int64_t row_y = fixed(m.f + m.d * 0.5 + m.e * 0.5);
  const auto width = static_cast<std::uint64_t>(in.width_px);
  const auto height = static_cast<std::uint64_t>(in.height_px);
  for (int y = 0; y < out.height_px; ++y, row_x += down_x, row_y += down_y) {
    Byte* to = out.row(y);
    std::int64_t at_x = row_x;
    std::int64_t at_y = row_y;
    for (int x = 0; x < out.width_px; ++x, at_x += step_x, at_y += step_y, to += kChannels) {
      const auto from_x = static_cast<std::uint64_t>(at_x >> 16);
      const auto from_y = static_cast<std::uint64_t>(at_y >> 16);
      if (from_x < width && from_y < height) {
        put<kChannels>(in.row(static_cast<int>(from_y)) + from_x * kChannels, to);
      } else {
        std::fill_n(to, kChannels, Byte{0});
      }
    }
  }
}

int floor_of(double value) noexcept {
  const int towards_zero = static_cast<int>(value);
  return towards_zero - (value < towards_zero ? 1 : 0);
}

template <int kChannels>
void transform_bilinear(ImageView in, const Affine& m, PixelSpan out) noexcept {
  const double width = in.width_px;
  const double height = in.height_px;
  const int right = in.width_px - 1;
  const int bottom = in.height_px - 1;
  for (int y = 0; y < out.height_px; ++y) {
    Byte* to = out.row(y);
    const double middle_y = y + 0.5;
    for (int x = 0; x < out.width_px; ++x, to += kChannels) {
      const double middle_x = x + 0.5;
      const double at_x = m.a * middle_x + m.b * middle_y + m.c;
      const double at_y = m.d * middle_x + m.e * middle_y + m.f;
      if (!(at_x >= 0 && at_x < width && at_y >= 0 && at_y < height)) {
        std::fill_n(to, kChannels, Byte{0});
        continue;
      }
      const int x0 = floor_of(at_x - 0.5);
      const int y0 = floor_of(at_y - 0.5);
      const double share_x = at_x - 0.5 - x0;
      const double share_y = at_y - 0.5 - y0;
      const std::ptrdiff_t left = std::ptrdiff_t{std::max(x0, 0)} * kChannels;
      const std::ptrdiff_t next = std::ptrdiff_t{std::min(x0 + 1, right)} * kChannels;
      const Byte* const upper = in.row(std::max(y0, 0));
      const Byte* const lower = in.row(std::min(y0 + 1, bottom));
      for (int c = 0; c < kChannels; ++c) {
        const double a = upper[left + c];
        const double b = lower[left + c];
        const double top = a + (upper[next + c] - a) * share_x;
        const double low = b + (lower[next + c] - b) * share_x;
        to[c] = static_cast<Byte>(static_cast<int>(top + (low - top) * share_y));
      }
    }
  }
}

// Turns by quarters, counter-clockwise: 1 and 3 only for squares.
template <int kChannels>
void turn(ImageView in, int quarters, PixelSpan out) noexcept {
  const int bottom = in.height_px - 1;
  const int right = in.width_px - 1;
  for (int y = 0; y < out.height_px; ++y) {
    Byte* to = out.row(y);
    for (int x = 0; x < out.width_px; ++x, to += kChannels) {
      const int from_y = quarters == 1 ? x : quarters == 2 ? bottom - y : bottom - x;
      const int from_x = quarters == 1 ? right - y : quarters == 2 ? right - x : y;
      put<kChannels>(in.row(from_y) + std::ptrdiff_t{from_x} * kChannels, to);
    }
  }
}

}  // namespace

Affine shear_x(double shear) noexcept { return {.b = shear}; }

Affine shear_y(double shear) noexcept { return {.d = shear}; }

Affine translation(int right_px, int down_px) noexcept {
  return {.c = -static_cast<double>(right_px), .f = -static_cast<double>(down_px)};
}

Affine rotation(double degrees, int height_px, int width_px) noexcept {
  const double angle = -(degrees * (std::numbers::pi / 180.0));
  const double cosine = to_15_places(std::cos(angle));
  const double sine = to_15_places(std::sin(angle));
  const double x = width_px / 2.0;
  const double y = height_px / 2.0;
  Affine m{cosine, sine, 0, -sine, cosine, 0};
  m.c = m.a * -x + m.b * -y + x;
  m.f = m.d * -x + m.e * -y + y;
  return m;
}

void transform(ImageView in, const Affine& m, Interpolation interpolation, PixelSpan out) noexcept {
  const bool moves = m.a == 1 && m.b == 0 && m.d == 0 && m.e == 1 && m.c == std::trunc(m.c) &&
                     m.f == std::trunc(m.f);
  if (moves) {
    move(in, -static_cast<std::int64_t>(m.c), -static_cast<std::int64_t>(m.f), out);
  } else if (interpolation == Interpolation::kNearest) {
    in.channels == 1 ? transform_nearest<1>(in, m, out) : transform_nearest<3>(in, m, out);
  } else {
    in.channels == 1 ? transform_bilinear<1>(in, m, out) : transform_bilinear<3>(in, m, out);
  }
}

void rotate(ImageView in, double degrees, Interpolation interpolation, PixelSpan out) noexcept {
  degrees = std::fmod(degrees, 360.0);
  if (degrees < 0) degrees += 360.0;
  const bool square = in.height_px == in.width_px;
  if (degrees == 0 || degrees == 360.0) return move(in, 0, 0, out);
  if (degrees == 180.0 || (square && (degrees == 90.0 || degrees == 270.0))) {
    const int quarters = static_cast<int>(degrees / 90.0);
    in.channels == 1 ? turn<1>(in, quarters, out) : turn<3>(in, quarters, out);
    return;
  }
  transform(in, rotation(degrees, in.height_px, in.width_px), interpolation, out);
}

void flip_horizontally(PixelSpan pixels) noexcept {
  for (int y = 0; y < pixels.height_px; ++y) {
    Byte* const row = pixels.row(y);
    if (pixels.channels == 1) {
      std::reverse(row, row + pixels.width_px);
      continue;
    }
    Byte* left = row;
    Byte* right = row + (std::ptrdiff_t{pixels.width_px} - 1) * 3;
    for (; left < right; left += 3, right -= 3) std::swap_ranges(left, left + 3, right);
  }
}

void place_reflected(const ImageView& image, int top, int left, bool flip, PixelSpan out) noexcept {
  Byte* to = out.data;
  for (int y = 0; y < out.height_px; ++y) {
    const Byte* const row = image.row(reflected(y + top, image.height_px));
    for (int x = 0; x < out.width_px; ++x) {
      const int at = (flip ? out.width_px - 1 - x : x) + left;
      const Byte* const from = row + std::ptrdiff_t{reflected(at, image.width_px)} * image.channels;
      for (int c = 0; c < out.channels; ++c) *to++ = from[image.channels == 1 ? 0 : c];
    }
  }
}

void erase(PixelSpan pixels, const Box& box, const std::array<std::uint8_t, 3>& value) noexcept {
  const int top = std::clamp(box.top, 0, pixels.height_px);
  const int bottom = std::clamp(box.top + box.height_px, top, pixels.height_px);
  const int left = std::clamp(box.left, 0, pixels.width_px);
  const int right = std::clamp(box.left + box.width_px, left, pixels.width_px);
  for (int y = top; y < bottom; ++y) {
    Byte* to = pixels.row(y) + std::ptrdiff_t{left} * pixels.channels;
    for (int x = left; x < right; ++x, to += pixels.channels) {
      std::copy_n(value.data(), pixels.channels, to);
    }
  }
}

}  // namespace winnow::pipeline

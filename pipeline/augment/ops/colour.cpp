#include "pipeline/augment/ops/colour.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/resample.h"

namespace winnow::pipeline {
namespace {

using Byte = std::uint8_t;
using Table = std::array<Byte, 256>;
using Tables = std::array<Table, 3>;  // one for each channel
using Histogram = std::array<std::uint32_t, 256>;

int luma_of(const Byte* rgb) noexcept {
  return (19595 * rgb[0] + 38470 * rgb[1] + 7471 * rgb[2] + 32768) >> 16;
}

// Pillow's blend in single precision: truncated, and clamped to a byte.
Byte blended(int from, int to, float factor) noexcept {
  float value = static_cast<float>(from) + factor * static_cast<float>(to - from);
  value = value < 0.0F ? 0.0F : value;
  value = value > 255.0F ? 255.0F : value;
  return static_cast<Byte>(static_cast<int>(value));
}

void blend_row(const Byte* from, Byte* to, std::size_t count, float factor) noexcept {
  for (std::size_t i = 0; i < count; ++i) to[i] = blended(from[i], to[i], factor);
}

void look_up(PixelSpan pixels, const Table& table) noexcept {
  Byte* const end = pixels.data + pixels.size();
  for (Byte* p = pixels.data; p != end; ++p) *p = table[*p];
}

void look_up(PixelSpan pixels, const Tables& tables) noexcept {
  if (pixels.channels == 1) return look_up(pixels, tables[0]);
  Byte* const end = pixels.data + pixels.size();
  for (Byte* p = pixels.data; p != end; p += 3) {
    p[0] = tables[0][p[0]];
    p[1] = tables[1][p[1]];
    p[2] = tables[2][p[2]];
  }
}

void blend_with(PixelSpan pixels, int constant, float factor) noexcept {
  Table table;
  for (int i = 0; i < 256; ++i) {
    table[static_cast<std::size_t>(i)] = blended(constant, i, factor);
  }
  look_up(pixels, table);
}

template <class MakeTable>
void by_histogram(PixelSpan pixels, MakeTable make) noexcept {
  std::array<Histogram, 3> counts{};
  const Byte* const end = pixels.data + pixels.size();
  if (pixels.channels == 1) {
    for (const Byte* p = pixels.data; p != end; ++p) ++counts[0][*p];
  } else {
    for (const Byte* p = pixels.data; p != end; p += 3) {
      ++counts[0][p[0]];
      ++counts[1][p[1]];
      ++counts[2][p[2]];
    }
  }
  Tables tables;
  for (std::size_t c = 0; c < static_cast<std::size_t>(pixels.channels); ++c) {
    tables[c] = make(counts[c]);
  }
  look_up(pixels, tables);
}

Table same() noexcept {
  Table table;
  for (std::size_t i = 0; i < 256; ++i) table[i] = static_cast<Byte>(i);
  return table;
}

Table stretched(const Histogram& counts) noexcept {
  int low = 0;
  int high = 255;
  while (low < 255 && counts[static_cast<std::size_t>(low)] == 0) ++low;
  while (high > 0 && counts[static_cast<std::size_t>(high)] == 0) --high;
  if (high <= low) return same();
  const double scale = 255.0 / (high - low);
  const double offset = -low * scale;
  Table table;
  for (int i = 0; i < 256; ++i) {
    const int value = static_cast<int>(i * scale + offset);
    table[static_cast<std::size_t>(i)] = static_cast<Byte>(std::clamp(value, 0, 255));
  }
  return table;
}

Table equalized(const Histogram& counts) noexcept {
  std::uint64_t total = 0;
  std::uint64_t last = 0;
  for (const std::uint32_t count : counts) {
    total += count;
    if (count != 0) last = count;
  }
  const std::uint64_t step = (total - last) / 255;
  if (step == 0) return same();
  Table table;
  std::uint64_t sum = step / 2;
  for (std::size_t i = 0; i < 256; ++i) {
    table[i] = static_cast<Byte>(std::min<std::uint64_t>(255, sum / step));
    sum += counts[i];
  }
  return table;
}

struct Hsv {
  int hue;  // 256 for a full circle
  int saturation;
  int value;
};

Hsv hsv_of(const Byte* rgb) noexcept {
  const int high = std::max({rgb[0], rgb[1], rgb[2]});
  const int low = std::min({rgb[0], rgb[1], rgb[2]});
  if (high == low) return {0, 0, high};
  const auto range = static_cast<float>(high - low);
  const auto share = [&](int c) { return static_cast<float>(high - rgb[c]) / range; };
  const float red = share(0);
  const float green = share(1);
  const float blue = share(2);
  float sixths = 0;
  if (rgb[0] == high) {
    sixths = blue - green;
  } else if (rgb[1] == high) {
    sixths = static_cast<float>(2.0 + red - blue);
  } else {
    sixths = static_cast<float>(4.0 + green - red);
  }
  double turn = sixths / 6.0 + 1.0;
  if (turn >= 1.0) turn -= 1.0;
  const auto hue = static_cast<float>(turn);
  return {std::clamp(static_cast<int>(hue * 255.0), 0, 255),
          std::clamp(static_cast<int>(range / static_cast<float>(high) * 255.0), 0, 255), high};
}

// Rounds half away from zero; values are never negative.
int to_nearest(double value) noexcept { return static_cast<int>(value + 0.5); }

void set_rgb(const Hsv& hsv, Byte* rgb) noexcept {
  if (hsv.saturation == 0) {
    std::fill_n(rgb, 3, static_cast<Byte>(hsv.value));
    return;
  }
  const double sixths = static_cast<float>(hsv.hue) * 6.0 / 255.0;
  const int sector = static_cast<int>(sixths);
  const auto rest = static_cast<float>(sixths - sector);
  const auto saturation = static_cast<float>(static_cast<float>(hsv.saturation) / 255.0);
  const auto value = static_cast<float>(hsv.value);
  const auto v = static_cast<Byte>(hsv.value);
  const auto part = [&](double share) {
    return static_cast<Byte>(std::clamp(to_nearest(value * share), 0, 255));
  };
  const Byte p = part(1.0 - saturation);
  const Byte q = part(1.0 - saturation * rest);
  const Byte t = part(1.0 - saturation * (1.0 - rest));
  const Byte corners[6][3] = {{v, t, p}, {q, v, p}, {p, v, t}, {p, q, v}, {t, p, v}, {v, p, q}};
  std::copy_n(corners[sector % 6], 3, rgb);
}

}  // namespace

void adjust_brightness(PixelSpan pixels, double factor) noexcept {
  blend_with(pixels, 0, static_cast<float>(factor));
}

void adjust_contrast(PixelSpan pixels, double factor) noexcept {
  std::uint64_t sum = 0;
  for (int y = 0; y < pixels.height_px; ++y) {
    const Byte* const row = pixels.row(y);
    std::uint64_t of_row = 0;
    for (int x = 0; x < pixels.width_px; ++x) {
      of_row += static_cast<std::uint64_t>(pixels.channels == 1 ? row[x] : luma_of(row + 3 * x));
    }
    sum += of_row;
  }
  const double count = static_cast<double>(pixels.height_px) * pixels.width_px;
  blend_with(pixels, static_cast<int>(static_cast<double>(sum) / count + 0.5),
             static_cast<float>(factor));
}

void adjust_saturation(PixelSpan pixels, double factor, std::vector<std::uint8_t>& scratch) {
  if (pixels.channels == 1) return;
  const std::size_t bytes = pixels.row_bytes();
  scratch.resize(bytes);
  for (int y = 0; y < pixels.height_px; ++y) {
    Byte* const row = pixels.row(y);
    for (std::size_t i = 0; i < bytes; i += 3) {
      const auto gray = static_cast<Byte>(luma_of(row + i));
      scratch[i] = gray;
      scratch[i + 1] = gray;
      scratch[i + 2] = gray;
    }
    blend_row(scratch.data(), row, bytes, static_cast<float>(factor));
  }
}

// The smoothed picture is the mean of 3x3 pixels with the middle one counted five times, rounded to
// the nearest thirteenth. Border pixels are unchanged.
void adjust_sharpness(PixelSpan pixels, double factor, std::vector<std::uint8_t>& scratch) {
  if (pixels.height_px < 3 || pixels.width_px < 3) return;
  const std::size_t bytes = pixels.row_bytes();
  const auto step = static_cast<std::size_t>(pixels.channels);
  scratch.resize(3 * bytes);
  Byte* above = scratch.data();  // original rows
  Byte* middle = above + bytes;
  Byte* const smooth = middle + bytes;
  std::copy_n(pixels.row(0), bytes, above);
  for (int y = 1; y + 1 < pixels.height_px; ++y) {
    Byte* const row = pixels.row(y);
    const Byte* const below = row + bytes;
    std::copy_n(row, bytes, middle);
    for (std::size_t i = step; i + step < bytes; ++i) {
      const int sum = above[i - step] + above[i] + above[i + step] + middle[i - step] +
                      5 * middle[i] + middle[i + step] + below[i - step] + below[i] +
                      below[i + step];
      constexpr int kThirteenth = 5042;  // in units of 2^-16; exact for sums of 13 bytes
      smooth[i] = static_cast<Byte>(((sum + 6) * kThirteenth) >> 16);
    }
    blend_row(smooth + step, row + step, bytes - 2 * step, static_cast<float>(factor));
    std::swap(above, middle);
  }
}

void adjust_hue(PixelSpan pixels, double turn) noexcept {
  if (pixels.channels == 1) return;
  const int shift = static_cast<int>(turn * 255);
  Byte* const end = pixels.data + pixels.size();
  for (Byte* p = pixels.data; p != end; p += 3) {
    Hsv hsv = hsv_of(p);
    hsv.hue = (hsv.hue + shift) & 255;
    set_rgb(hsv, p);
  }
}

void posterize(PixelSpan pixels, int bits) noexcept {
  const auto mask = static_cast<Byte>(0xFF << (8 - std::clamp(bits, 0, 8)));
  Byte* const end = pixels.data + pixels.size();
  for (Byte* p = pixels.data; p != end; ++p) *p &= mask;
}

void solarize(PixelSpan pixels, double threshold) noexcept {
  Table table = same();
  for (std::size_t i = 0; i < 256; ++i) {
    if (static_cast<double>(i) >= threshold) table[i] = static_cast<Byte>(255 - i);
  }
  look_up(pixels, table);
}

void invert(PixelSpan pixels) noexcept {
  Byte* const end = pixels.data + pixels.size();
  for (Byte* p = pixels.data; p != end; ++p) *p = static_cast<Byte>(~*p);
}

void autocontrast(PixelSpan pixels) noexcept { by_histogram(pixels, stretched); }

void equalize(PixelSpan pixels) noexcept { by_histogram(pixels, equalized); }

}  // namespace winnow::pipeline

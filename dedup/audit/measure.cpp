#include "dedup/audit/measure.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>

namespace winnow::dedup {
namespace {

constexpr int kSmallSide = 64;  // longer side at which edges are measured, if the picture is larger

// Approximate number of grid points: more would not improve percentiles or entropy.
constexpr std::int64_t kMostSamples = 4096;
constexpr std::int64_t kAllUpTo = 512;

// Weights of brightness, 2^16 - 1 in all, and the right shift that makes a bin of its square.
constexpr std::uint32_t kRed = 15794;
constexpr std::uint32_t kGreen = 45285;
constexpr std::uint32_t kBlue = 4456;
constexpr int kBinShift = 23;
static_assert((255u * 255u * std::uint64_t{kRed + kGreen + kBlue}) >> kBinShift < 512);

constexpr std::uint8_t kWhite = 250;

int step_for(std::int64_t height, std::int64_t width) {
  const std::int64_t pixels = height * width;
  if (pixels <= kAllUpTo) return 1;
  std::int64_t step = 2;
  while (step * step * kMostSamples < pixels) ++step;
  return static_cast<int>(step);
}

// Binary logarithm of n > 0, in units of 2^-16, rounded down. Computed by squaring, because the C
// library's last bit depends on the machine.
constexpr std::uint64_t log2_fixed(std::uint64_t n) {
  const int whole = static_cast<int>(std::bit_width(n)) - 1;
  std::uint64_t m = whole > 31 ? n >> (whole - 31) : n << (31 - whole);
  std::uint64_t log = static_cast<std::uint64_t>(whole);
  for (int bit = 0; bit < 16; ++bit) {
    m = (m * m) >> 31;
    log = 2 * log + (m >> 32);
    m >>= m >> 32;
  }
  return log;
}

// n log2(n) for small n; nearly all counts are small.
constexpr auto kTerms = [] {
  std::array<std::uint32_t, 512> terms{};
  for (std::size_t n = 1; n < terms.size(); ++n) {
    terms[n] = static_cast<std::uint32_t>(n * log2_fixed(n));
  }
  return terms;
}();

float entropy_of(std::span<const std::uint32_t> counts, std::uint64_t total) {
  std::uint64_t sum = 0;
  for (const std::uint32_t count : counts) {
    sum += count < kTerms.size() ? kTerms[count] : count * log2_fixed(count);
  }
  const double bits = static_cast<double>(log2_fixed(total)) -
                      static_cast<double>(sum) / static_cast<double>(total);
  return static_cast<float>(std::max(0.0, bits / 65536));
}

double deviation(std::uint64_t sum, std::uint64_t squares, std::uint64_t count) {
  const double mean = static_cast<double>(sum) / static_cast<double>(count);
  const double variance = static_cast<double>(squares) / static_cast<double>(count) - mean * mean;
  return std::sqrt(std::max(0.0, variance));
}

// Pillow's FIND_EDGES: eight times a pixel minus its eight neighbours, clipped to 0..255. Border
// pixels stay as they are; so do all pixels if there are only borders.
// The image is processed as one long row. Wrong neighbours across row ends are overwritten
// afterwards.
float edges_of(const Image& gray) {
  const int height = gray.height_px;
  const int width = gray.width_px;
  const int count = height * width;
  const std::uint8_t* const p = gray.pixels.data();
  std::array<std::int16_t, kSmallSide * kSmallSide> columns;
  std::array<std::int16_t, kSmallSide * kSmallSide> edges;
  std::copy_n(p, count, edges.begin());
  if (height >= 3 && width >= 3) {
    const int last = count - width;
    for (int i = width; i < last; ++i) {
      columns[i] = static_cast<std::int16_t>(p[i - width] + p[i] + p[i + width]);
    }
    for (int i = width + 1; i + 1 < last; ++i) {
      const auto around = static_cast<std::int16_t>(columns[i - 1] + columns[i] + columns[i + 1]);
      const auto edge = static_cast<std::int16_t>(9 * p[i] - around);
      edges[i] = std::clamp(edge, std::int16_t{0}, std::int16_t{255});
    }
    for (int y = 1; y + 1 < height; ++y) {
      for (const int i : {y * width, y * width + width - 1}) edges[i] = p[i];
    }
  }
  std::int32_t sum = 0;
  std::int32_t squares = 0;
  for (int i = 0; i < count; ++i) {
    sum += edges[i];
    squares += edges[i] * edges[i];
  }
  return static_cast<float>(deviation(static_cast<std::uint64_t>(sum),
                                      static_cast<std::uint64_t>(squares), gray.pixels.size()));
}

// With edges this strong, a picture counts as sharp whatever its histogram.
constexpr float kSharp = 35;

float histogram_of(const Image& gray) {
  std::array<std::uint32_t, 256> counts{};
  for (const std::uint8_t value : gray.pixels) ++counts[value];
  std::uint64_t squares = 0;
  for (const std::uint32_t count : counts) squares += count * count;
  return static_cast<float>(deviation(gray.pixels.size(), squares, counts.size()));
}

}  // namespace

bool is_sound(const Measures& m) noexcept {
  const auto is_amount = [](float x) { return std::isfinite(x) && x >= 0; };
  return is_amount(m.brightness_99) && is_amount(m.brightness_5) && is_amount(m.white) &&
         is_amount(m.entropy) && is_amount(m.edges) && is_amount(m.histogram) &&
         is_amount(m.colour) && m.orientation >= 1 && m.orientation <= 8;
}

RowMeasures::RowMeasures(int height_px, int width_px, int channels, ResampleWeights* weights)
    : height_px_(height_px),
      width_px_(width_px),
      channels_(channels),
      step_(step_for(height_px, width_px)),
      next_row_(std::min(step_, height_px) / 2) {
  const int longer = std::max(height_px, width_px);
  if (longer <= kSmallSide) {
    small_ = Image(height_px, width_px, 1);
    return;
  }
  resizer_.emplace(
      RowResizer::Sizes{height_px, width_px, 1, side_where_longer_is(kSmallSide, height_px, longer),
                        side_where_longer_is(kSmallSide, width_px, longer)},
      ResampleFilter::kBicubic, weights);
}

// The offset varies from row to row, so that no regular pattern falls between the grid points.
int RowMeasures::first_column() const noexcept {
  return next_row_ / step_ % std::min(step_, width_px_);
}

void RowMeasures::sample_gray(const std::uint8_t* row) {
  for (int x = first_column(); x < width_px_; x += step_) {
    const std::uint32_t value = row[x];
    ++values_[value];
    ++brightness_[value * value * (kRed + kGreen + kBlue) >> kBinShift];
    white_ += value >= kWhite ? 1 : 0;
    ++samples_;
  }
}

void RowMeasures::sample_rgb(const std::uint8_t* row) {
  for (int x = first_column(); x < width_px_; x += step_) {
    const std::uint8_t* const p = row + std::ptrdiff_t{3} * x;
    const std::uint32_t r = p[0];
    const std::uint32_t g = p[1];
    const std::uint32_t b = p[2];
    ++values_[r];
    ++values_[256 + g];
    ++values_[512 + b];
    ++brightness_[(kRed * r * r + kGreen * g * g + kBlue * b * b) >> kBinShift];
    const std::uint32_t least = std::min({r, g, b});
    const std::uint32_t spread = std::max({r, g, b}) - least;
    spread_ += spread * spread;
    white_ += least >= kWhite ? 1 : 0;
    ++samples_;
  }
}

void RowMeasures::add(ImageView rows, ImageView gray) {
  for (; next_row_ < row_ + rows.height_px; next_row_ += step_) {
    const std::uint8_t* const row = rows.row(next_row_ - row_);
    channels_ == 1 ? sample_gray(row) : sample_rgb(row);
  }
  if (resizer_) {
    resizer_->add(gray);
  } else {
    for (int y = 0; y < gray.height_px; ++y) {
      std::memcpy(small_.pixels.data() + std::ptrdiff_t{row_ + y} * width_px_, gray.row(y),
                  static_cast<std::size_t>(width_px_));
    }
  }
  row_ += rows.height_px;
}

// Interpolates within a bin by rank.
float RowMeasures::brightness_at(std::uint64_t percent) const noexcept {
  const std::uint64_t rank = percent * (samples_ - 1);  // in hundredths
  std::uint64_t below = 0;
  std::size_t bin = 0;
  while (rank >= 100 * (below + brightness_[bin])) below += brightness_[bin++];
  const double before = static_cast<double>(rank) / 100 - static_cast<double>(below);
  const double part = std::min(1.0, (before + 0.5) / static_cast<double>(brightness_[bin]));
  const double square = (static_cast<double>(bin) + part) * (1 << kBinShift);
  return static_cast<float>(std::min(1.0, std::sqrt(square / (kRed + kGreen + kBlue)) / 255));
}

Measures RowMeasures::finish() {
  if (resizer_) small_ = resizer_->finish();
  const auto samples = static_cast<double>(samples_);
  Measures out;
  out.brightness_99 = brightness_at(99);
  out.brightness_5 = brightness_at(5);
  out.white = static_cast<float>(static_cast<double>(white_) / samples);
  out.entropy = entropy_of(std::span(values_).first(256 * static_cast<std::size_t>(channels_)),
                           samples_ * static_cast<std::uint64_t>(channels_));
  out.edges = edges_of(small_);
  if (out.edges < kSharp) out.histogram = histogram_of(small_);
  out.colour = static_cast<float>(std::sqrt(static_cast<double>(spread_) / samples) / 255);
  return out;
}

Measures measure(ImageView image) {
  RowMeasures rows(image.height_px, image.width_px, image.channels);
  rows.add(image, image.channels == 1 ? image : to_gray(image).view());
  return rows.finish();
}

}  // namespace winnow::dedup

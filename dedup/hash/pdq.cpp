#include "dedup/hash/pdq.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "common/simd.h"
#include "dedup/hash/cosines_internal.h"
#include "dedup/hash/turned_internal.h"

namespace winnow::dedup {
namespace {

constexpr int kPdqSide = 64;
constexpr std::size_t kLow = 16;
using Samples = std::array<std::array<float, kPdqSide>, kPdqSide>;

// Running mean along an axis, over `full` values where both sides have enough.
struct Window {
  explicit Window(int length) : full((length + 127) / 128), half((full + 2) / 2) {}
  int full;
  int half;
};

// The additions within a row depend on each other, so sixteen rows are summed side by side. Lanes
// hold the pixels of all sixteen rows at one x, eight to a vector.
constexpr int kBatch = 16;
using Eight [[gnu::vector_size(8 * sizeof(float))]] = float;
using EightAnywhere [[gnu::vector_size(8 * sizeof(float)), gnu::aligned(4), gnu::may_alias]] =
    float;

// The functions below are inlined into one function per instruction set.

[[gnu::always_inline]] inline Eight load(const float* p) {
  return *reinterpret_cast<const EightAnywhere*>(p);
}
[[gnu::always_inline]] inline void store(float* p, Eight values) {
  *reinterpret_cast<EightAnywhere*>(p) = values;
}

// One instruction each.
template <int... places>
[[gnu::always_inline]] inline Eight shuffled(Eight a, Eight b) {
  return __builtin_shufflevector(a, b, places...);
}

[[gnu::always_inline]] inline void transpose(std::array<Eight, 8>& m) {
  std::array<Eight, 8> pairs;
  for (std::size_t i = 0; i < 8; i += 2) {
    pairs[i] = shuffled<0, 8, 1, 9, 4, 12, 5, 13>(m[i], m[i + 1]);
    pairs[i + 1] = shuffled<2, 10, 3, 11, 6, 14, 7, 15>(m[i], m[i + 1]);
  }
  std::array<Eight, 8> fours;
  for (std::size_t i = 0; i < 8; i += 4) {
    fours[i] = shuffled<0, 1, 8, 9, 4, 5, 12, 13>(pairs[i], pairs[i + 2]);
    fours[i + 1] = shuffled<2, 3, 10, 11, 6, 7, 14, 15>(pairs[i], pairs[i + 2]);
    fours[i + 2] = shuffled<0, 1, 8, 9, 4, 5, 12, 13>(pairs[i + 1], pairs[i + 3]);
    fours[i + 3] = shuffled<2, 3, 10, 11, 6, 7, 14, 15>(pairs[i + 1], pairs[i + 3]);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    m[i] = shuffled<0, 1, 2, 3, 8, 9, 10, 11>(fours[i], fours[i + 4]);
    m[i + 4] = shuffled<4, 5, 6, 7, 12, 13, 14, 15>(fours[i], fours[i + 4]);
  }
}

// Transposes eight rows of eight floats.
[[gnu::always_inline]] inline void transpose(const float* from, std::ptrdiff_t from_stride,
                                             float* to, std::ptrdiff_t to_stride) {
  std::array<Eight, 8> m;
  for (std::size_t i = 0; i < 8; ++i)
    m[i] = load(from + static_cast<std::ptrdiff_t>(i) * from_stride);
  transpose(m);
  for (std::size_t i = 0; i < 8; ++i) store(to + static_cast<std::ptrdiff_t>(i) * to_stride, m[i]);
}

// Converts between kBatch rows of `width` floats and lanes.
[[gnu::always_inline]] inline void to_lanes(const float* rows, std::ptrdiff_t width, float* lanes) {
  std::ptrdiff_t x = 0;
  for (; x + 8 <= width; x += 8) {
    for (int half = 0; half < kBatch; half += 8) {
      transpose(rows + half * width + x, width, lanes + x * kBatch + half, kBatch);
    }
  }
  for (; x < width; ++x) {
    for (int i = 0; i < kBatch; ++i) lanes[x * kBatch + i] = rows[i * width + x];
  }
}
[[gnu::always_inline]] inline void from_lanes(const float* lanes, std::ptrdiff_t width,
                                              float* rows) {
  std::ptrdiff_t x = 0;
  for (; x + 8 <= width; x += 8) {
    for (int half = 0; half < kBatch; half += 8) {
      transpose(lanes + x * kBatch + half, kBatch, rows + half * width + x, width);
    }
  }
  for (; x < width; ++x) {
    for (int i = 0; i < kBatch; ++i) rows[i * width + x] = lanes[x * kBatch + i];
  }
}

// Running means along kBatch rows of `width`, in place. `lanes` and `means` are buffers of the same
// size.
[[gnu::always_inline]] inline void mean_rows(float* rows, int width, Window window, float* lanes,
                                             float* means) {
  to_lanes(rows, width, lanes);
  Eight low{};
  Eight high{};
  int size = 0;
  int at = 0;
  int left = 0;
  int right = 0;
  const auto add = [&](int x) __attribute__((always_inline)) {
    low += load(lanes + std::ptrdiff_t{x} * kBatch);
    high += load(lanes + std::ptrdiff_t{x} * kBatch + 8);
  };
  const auto remove = [&](int x) __attribute__((always_inline)) {
    low -= load(lanes + std::ptrdiff_t{x} * kBatch);
    high -= load(lanes + std::ptrdiff_t{x} * kBatch + 8);
  };
  const auto put = [&]() __attribute__((always_inline)) {
    float* const to = means + std::ptrdiff_t{at++} * kBatch;
    store(to, low / static_cast<float>(size));
    store(to + 8, high / static_cast<float>(size));
  };
  for (; right < window.half - 1; ++right, ++size) add(right);
  while (right < window.full) {
    add(right++);
    ++size;
    put();
  }
  while (right < width) {
    add(right++);
    remove(left++);
    put();
  }
  while (at < width) {
    remove(left++);
    --size;
    put();
  }
  from_lanes(means, width, rows);
}

[[gnu::always_inline]] inline void luma_of(const std::uint8_t* p, int channels, int width,
                                           float* out) {
  for (int x = 0; x < width; ++x) {
    const auto at = [&](int c) __attribute__((always_inline)) {
      return static_cast<float>(p[channels == 3 ? 3 * x + c : x]);
    };
    out[x] = 0.299F * at(0) + 0.587F * at(1) + 0.114F * at(2);
  }
}

// One step of running means along columns, `size` columns wide. Adds row `added`, removes row
// `removed`, and writes the means to `means`; each may be null.
struct ColumnStep {
  const float* added;
  const float* removed;
  int size;
  float* means;
};
[[gnu::always_inline]] inline void step_columns(const ColumnStep& step, int width, float* sums) {
  const auto size = static_cast<float>(step.size);
  if (step.added != nullptr) {
    for (int x = 0; x < width; ++x) sums[x] += step.added[x];
  }
  if (step.removed != nullptr) {
    for (int x = 0; x < width; ++x) sums[x] -= step.removed[x];
  }
  if (step.means != nullptr) {
    for (int x = 0; x < width; ++x) step.means[x] = sums[x] / size;
  }
}

struct Loops {
  void (*mean_rows)(float* rows, int width, Window window, float* lanes, float* means);
  void (*step_columns)(const ColumnStep& step, int width, float* sums);
  void (*luma)(const std::uint8_t* row, int channels, int width, float* out);
};

void mean_rows_base(float* rows, int width, Window window, float* lanes, float* means) {
  mean_rows(rows, width, window, lanes, means);
}
void step_columns_base(const ColumnStep& step, int width, float* sums) {
  step_columns(step, width, sums);
}
void luma_base(const std::uint8_t* row, int channels, int width, float* out) {
  channels == 3 ? luma_of(row, 3, width, out) : luma_of(row, 1, width, out);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void mean_rows_avx2(float* rows, int width, Window window, float* lanes,
                                            float* means) {
  mean_rows(rows, width, window, lanes, means);
}
[[gnu::target("avx2")]] void step_columns_avx2(const ColumnStep& step, int width, float* sums) {
  step_columns(step, width, sums);
}
[[gnu::target("avx2")]] void luma_avx2(const std::uint8_t* row, int channels, int width,
                                       float* out) {
  channels == 3 ? luma_of(row, 3, width, out) : luma_of(row, 1, width, out);
}
Loops best_loops() {
  if (widest_simd() >= Simd::kAvx2) return {mean_rows_avx2, step_columns_avx2, luma_avx2};
  return {mean_rows_base, step_columns_base, luma_base};
}
#else
Loops best_loops() { return {mean_rows_base, step_columns_base, luma_base}; }
#endif

using TakeRow = std::function<void(const float*)>;

// Running means along rows, then along columns, for rows that arrive one after the other.
class BoxFilter {
 public:
  BoxFilter(int height_px, int width_px, TakeRow next)
      : width_(width_px),
        along_rows_(width_px),
        along_columns_(height_px),
        next_(std::move(next)),
        batch_(floats(kBatch)),
        lanes_(floats(kBatch)),
        lane_means_(floats(kBatch)),
        window_(floats(along_columns_.full)),
        sums_(floats(1)),
        means_(floats(1)) {}

  // The buffer for the next row.
  float* row() { return batch_.data() + std::ptrdiff_t{waiting_} * width_; }
  void row_is_there() {
    if (++waiting_ == kBatch) flush();
  }
  void finish() {
    flush();
    for (int size = along_columns_.full - 1; size >= along_columns_.full - along_columns_.half + 1;
         --size) {
      step({nullptr, row_of_window(left_++), size, means_.data()});
    }
  }

 private:
  std::vector<float> floats(int rows) const {
    return std::vector<float>(static_cast<std::size_t>(rows) * static_cast<std::size_t>(width_));
  }
  float* row_of_window(int row) {
    return window_.data() + std::ptrdiff_t{row % along_columns_.full} * width_;
  }

  void flush() {
    if (waiting_ == 0) return;
    loops_.mean_rows(batch_.data(), width_, along_rows_, lanes_.data(), lane_means_.data());
    const int count = std::exchange(waiting_, 0);
    for (int i = 0; i < count; ++i) {
      add(batch_.data() + std::ptrdiff_t{i} * width_);
    }
  }
  void add(const float* row) {
    float* const place = row_of_window(rows_);
    const bool is_full = rows_ >= along_columns_.full;
    if (is_full) ++left_;
    ++rows_;
    const int size = std::min(rows_, along_columns_.full);
    step({row, is_full ? place : nullptr, size,
          rows_ >= along_columns_.half ? means_.data() : nullptr});
    std::copy(row, row + width_, place);
  }
  void step(const ColumnStep& step) {
    loops_.step_columns(step, width_, sums_.data());
    if (step.means != nullptr) next_(step.means);
  }

  const Loops loops_ = best_loops();
  const int width_;
  const Window along_rows_;
  const Window along_columns_;
  const TakeRow next_;
  std::vector<float> batch_;  // rows of an incomplete batch
  int waiting_ = 0;
  std::vector<float> lanes_;
  std::vector<float> lane_means_;
  std::vector<float> window_;  // ring of the rows in the sums
  int rows_ = 0;
  int left_ = 0;  // the oldest row in it
  std::vector<float> sums_;
  std::vector<float> means_;
};

// Horizontal and vertical steps in percent of 255; small ones do not count.
int quality_of(const Samples& samples) {
  int sum = 0;
  const auto add = [&sum](float u, float v) {
    sum += std::abs(static_cast<int>(((u - v) * 100) / 255));
  };
  for (std::size_t i = 0; i < kPdqSide; ++i) {
    for (std::size_t j = 0; j < kPdqSide; ++j) {
      if (i + 1 < kPdqSide) add(samples[i][j], samples[i + 1][j]);
      if (j + 1 < kPdqSide) add(samples[i][j], samples[i][j + 1]);
    }
  }
  return std::min(100, sum / 90);
}

// Rows 1..16 of the orthonormal DCT-II of length 64, stored by columns: [n][k].
constexpr auto make_basis() {
  constexpr double kScale = 0.17677669529663687F;  // sqrt(2 / 64), rounded as in the reference
  std::array<std::array<float, kLow>, kPdqSide> basis{};
  for (std::size_t n = 0; n < kPdqSide; ++n) {
    for (std::size_t k = 0; k < kLow; ++k) {
      basis[n][k] = static_cast<float>(kScale * cosine(static_cast<int>((k + 1) * (2 * n + 1))));
    }
  }
  return basis;
}
alignas(64) constexpr auto kBasis = make_basis();

// All sums are added in ascending order.
std::array<float, kLow * kLow> low_dct(const Samples& samples) {
  std::array<std::array<float, kPdqSide>, kLow> columns{};
  for (std::size_t k = 0; k < kPdqSide; ++k) {
    for (std::size_t i = 0; i < kLow; ++i) {
      for (std::size_t j = 0; j < kPdqSide; ++j) columns[i][j] += kBasis[k][i] * samples[k][j];
    }
  }
  std::array<float, kLow * kLow> block{};
  for (std::size_t i = 0; i < kLow; ++i) {
    for (std::size_t k = 0; k < kPdqSide; ++k) {
      for (std::size_t j = 0; j < kLow; ++j) block[i * kLow + j] += columns[i][k] * kBasis[k][j];
    }
  }
  return block;
}

// Sets bits in `words`, which must be 0.
void set_bits(const std::array<float, kLow * kLow>& block, std::uint64_t* words) {
  auto sorted = block;
  const auto middle = sorted.begin() + kLow * kLow / 2 - 1;
  std::nth_element(sorted.begin(), middle, sorted.end());
  for (std::size_t i = 0; i < block.size(); ++i) {
    // The text form begins with the last bit.
    if (block[i] > *middle) words[(block.size() - 1 - i) / 64] |= std::uint64_t{1} << (i % 64);
  }
}

class PdqStream final : public HashStream {
 public:
  PdqStream(int height_px, int width_px, int orientations)
      : height_px_(height_px),
        width_px_(width_px),
        orientations_(orientations),
        second_(height_px, width_px, [this](const float* row) { sample(row); }),
        first_(height_px, width_px, [this](const float* row) {
          std::copy(row, row + width_px_, second_.row());
          second_.row_is_there();
        }) {}

  void add(ImageView rows, ImageView) override {
    for (int y = 0; y < rows.height_px; ++y) {
      if (is_sampled()) {
        luma_.resize(static_cast<std::size_t>(width_px_));
        loops_.luma(rows.row(y), rows.channels, width_px_, luma_.data());
        sample(luma_.data());
      } else {
        loops_.luma(rows.row(y), rows.channels, width_px_, first_.row());
        first_.row_is_there();
      }
    }
  }

  int finish(std::uint64_t* words) override {
    constexpr std::size_t kWords = kLow * kLow / 64;
    const auto orientations = static_cast<std::size_t>(orientations_);
    std::fill_n(words, kWords * orientations, std::uint64_t{0});
    if (std::min(height_px_, width_px_) < 5) return 0;
    if (!is_sampled()) {
      first_.finish();
      second_.finish();
    }
    const auto block = low_dct(samples_);
    for (int k = 0; k < orientations_; ++k) {
      set_bits(turned<kLow, 1>(block, k), words + static_cast<std::size_t>(k) * kWords);
    }
    return quality_of(samples_);
  }

 private:
  bool is_sampled() const { return height_px_ == kPdqSide && width_px_ == kPdqSide; }
  static int place(std::size_t i, int length) {
    return static_cast<int>((static_cast<double>(i) + 0.5) * length / kPdqSide);
  }
  void sample(const float* row) {
    for (; next_ < kPdqSide && place(next_, height_px_) == row_; ++next_) {
      for (std::size_t j = 0; j < kPdqSide; ++j) samples_[next_][j] = row[place(j, width_px_)];
    }
    ++row_;
  }

  const Loops loops_ = best_loops();
  const int height_px_;
  const int width_px_;
  const int orientations_;
  Samples samples_{};
  std::size_t next_ = 0;
  int row_ = 0;
  std::vector<float> luma_;
  BoxFilter second_;
  BoxFilter first_;
};

}  // namespace

std::unique_ptr<HashStream> begin_pdq(int height_px, int width_px, int, int orientations,
                                      ResampleWeights*) {
  return std::make_unique<PdqStream>(height_px, width_px, orientations);
}

}  // namespace winnow::dedup

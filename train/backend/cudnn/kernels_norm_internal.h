#pragma once

#include "train/backend/cudnn/kernels_base_internal.h"

// Partition of a matrix's rows for sums over the rows, for each channel. It depends only on the
// shape. A thread block sums one part of one tile; a second kernel adds up the parts.
namespace winnow::train::cudnn::kernels {

struct Parts {
  Index rows = 1;
  Index parts = 1;
  WINNOW_DEVICE_FN Index begin(Index part) const { return divide(rows * part, parts); }
  WINNOW_DEVICE_FN Index count(Index part) const { return begin(part + 1) - begin(part); }
};
// Chooses the number of parts: enough thread blocks for a large GPU, but so few that adding up the
// parts stays cheap.
constexpr Parts parts_of(Index rows, Index channels) {
  const Index most = least(512, greatest(64, (Index{1} << 17) / channels));
  return {rows, greatest(1, least(most, ceil_div(rows, 64)))};
}

// Tiling for adding up the parts. Narrow tiles leave few parts to each thread, which adds them
// sequentially.
constexpr Tiling tiling_of_parts(Index channels) { return tiling(channels, 1, 3); }

inline constexpr int kChunk = 64;  // number of rows that one thread sums in f32

// Number of rows in [begin, end) that the y-th thread of a tile's column processes.
WINNOW_DEVICE_FN Index rows_of_thread(const Tiling& tiles, Index begin, Index end, int y) {
  const Index left = end - begin - y;
  return left <= 0 ? 0 : (left + tiles.height() - 1) >> tiles.height_shift();
}

// Computes mean and sum of squared deviations of each part. A thread sums deviations from the first
// number of each chunk, so rounding is bounded by the chunk's own spread. Chunks, threads and parts
// are merged in f64 (Chan, Golub and LeVeque 1979).
template <class T, int N>
struct MomentsKernel {
  static constexpr const char* kName = "batch moments";
  static constexpr int kPhases = 2;
  struct Shared {
    double mean[N][kThreads];
    double squares[N][kThreads];
  };
  const T* x;
  Index channels;
  Parts parts;
  double* mean;  // shape (parts, channels)
  double* squares;
  Tiling tiles = tiling(channels, N);

  LaunchShape shape() const { return {tiles.tiles * parts.parts, kThreads}; }

  template <int kPhase>
  WINNOW_DEVICE_FN void run(const Place& at, Shared& shared) const {
    const Spot s = spot(tiles, at);
    const Index begin = parts.begin(s.slab);
    const Index end = parts.begin(s.slab + 1);
    if constexpr (kPhase == 0) {
      if (s.group < tiles.groups) sum_rows(s, begin, end, at.thread, shared);
    } else {
      merge_threads(s, begin, end, at.thread, shared);
    }
  }

 private:
  WINNOW_DEVICE_FN void sum_rows(const Spot& s, Index begin, Index end, int thread,
                                 Shared& shared) const {
    double all_mean[N] = {};
    double all_squares[N] = {};
    double count = 0;
    const Index step = tiles.height();
    const T* from = x + s.group * N;
    for (Index first = begin + s.y; first < end; first += kChunk * step) {
      const Index last = least(end, first + kChunk * step);
      const Floats<N> pivot = load<N>(from + first * channels);
      float sum[N] = {};
      float sum_squares[N] = {};
      int rows = 0;
      for (Index row = first; row < last; row += step, ++rows) {
        const Floats<N> v = load<N>(from + row * channels);
        for (int i = 0; i < N; ++i) {
          const float d = v.at[i] - pivot.at[i];
          sum[i] += d;
          sum_squares[i] += d * d;
        }
      }
      const double n = rows;
      const double part_of_all = n / (count + n);
      for (int i = 0; i < N; ++i) {
        const double from_pivot = sum[i] / n;
        const double apart = pivot.at[i] + from_pivot - all_mean[i];
        all_mean[i] += apart * part_of_all;
        all_squares[i] +=
            sum_squares[i] - from_pivot * sum[i] + apart * apart * count * part_of_all;
      }
      count += n;
    }
    for (int i = 0; i < N; ++i) {
      shared.mean[i][thread] = all_mean[i];
      shared.squares[i][thread] = all_squares[i];
    }
  }

  // Merges the results of a tile's threads, with one thread for each channel.
  WINNOW_DEVICE_FN void merge_threads(const Spot& s, Index begin, Index end, int thread,
                                      const Shared& shared) const {
    const int width = tiles.width();
    const int x_of = thread / N;
    const int i = thread % N;
    const Index group = s.group - s.x + x_of;
    if (x_of >= width || group >= tiles.groups) return;
    double sum = 0;
    for (int y = 0; y < tiles.height(); ++y) {
      sum += static_cast<double>(rows_of_thread(tiles, begin, end, y)) *
             shared.mean[i][y * width + x_of];
    }
    const double middle = sum / static_cast<double>(end - begin);
    double sum_squares = 0;
    for (int y = 0; y < tiles.height(); ++y) {
      const double d = shared.mean[i][y * width + x_of] - middle;
      sum_squares += shared.squares[i][y * width + x_of] +
                     static_cast<double>(rows_of_thread(tiles, begin, end, y)) * d * d;
    }
    const Index to = s.slab * channels + group * N + i;
    mean[to] = middle;
    squares[to] = sum_squares;
  }
};

// Returns the sum over the threads of a tile's column x.
WINNOW_DEVICE_FN double column_sum(const double* of_threads, const Tiling& tiles, int x) {
  double sum = 0;
  for (int y = 0; y < tiles.height(); ++y) sum += of_threads[y * tiles.width() + x];
  return sum;
}

struct FinishMomentsKernel {
  static constexpr const char* kName = "batch moments of all parts";
  static constexpr int kPhases = 4;
  struct Shared {
    double sum[kThreads];
    double mean[kThreads];
  };
  const double* means;  // shape (parts, channels)
  const double* squares;
  Index channels;
  Parts parts;
  float* mean;
  float* variance;
  Tiling tiles = tiling_of_parts(channels);

  LaunchShape shape() const { return {tiles.tiles, kThreads}; }

  template <int kPhase>
  WINNOW_DEVICE_FN void run(const Place& at, Shared& shared) const {
    const Spot s = spot(tiles, at);
    const Index c = s.group;
    if (c >= channels) return;
    const auto rows = static_cast<double>(parts.rows);
    if constexpr (kPhase == 0) {
      double sum = 0;
      for (Index part = s.y; part < parts.parts; part += tiles.height()) {
        sum += static_cast<double>(parts.count(part)) * means[part * channels + c];
      }
      shared.sum[at.thread] = sum;
    } else if constexpr (kPhase == 1) {
      if (s.y == 0) shared.mean[s.x] = column_sum(shared.sum, tiles, s.x) / rows;
    } else if constexpr (kPhase == 2) {
      double sum = 0;
      for (Index part = s.y; part < parts.parts; part += tiles.height()) {
        const double d = means[part * channels + c] - shared.mean[s.x];
        sum += squares[part * channels + c] + static_cast<double>(parts.count(part)) * d * d;
      }
      shared.sum[at.thread] = sum;
    } else if (s.y == 0) {
      const double sum = column_sum(shared.sum, tiles, s.x);
      mean[c] = static_cast<float>(shared.mean[s.x]);
      variance[c] = static_cast<float>(sum < 0 ? 0 : sum / rows);
    }
  }
};

WINNOW_DEVICE_FN float inverse_deviation(float variance, double epsilon) {
  return 1 / std::sqrt(variance + static_cast<float>(epsilon));
}

template <class T, int N>
struct BatchNormKernel {
  static constexpr const char* kName = "batch norm";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  BatchNorm a;
  Tiling tiles = tiling(a.layer.channels, N);

  LaunchShape shape() const { return matrix_shape(tiles, a.layer.rows); }

  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    const Spot s = spot(tiles, at);
    if (s.group >= tiles.groups) return;
    const Index c = s.group * N;
    float mean[N];
    float factor[N];
    float shift[N];
    for (int i = 0; i < N; ++i) {
      mean[i] = a.statistics.mean[c + i];
      factor[i] = a.scale[c + i] * inverse_deviation(a.statistics.variance[c + i], a.layer.epsilon);
      shift[i] = a.shift[c + i];
    }
    for_rows(tiles, s, a.layer.rows, [&](Index row) {
      const Index from = row * a.layer.channels + c;
      Floats<N> v = load<N>(static_cast<const T*>(a.x) + from);
      for (int i = 0; i < N; ++i) v.at[i] = (v.at[i] - mean[i]) * factor[i] + shift[i];
      if (a.residual != nullptr) {
        const Floats<N> more = load<N>(static_cast<const T*>(a.residual) + from);
        for (int i = 0; i < N; ++i) v.at[i] += more.at[i];
      }
      if (a.layer.relu) {
        for (int i = 0; i < N; ++i) v.at[i] = v.at[i] <= 0 ? 0 : v.at[i];
      }
      store<N>(static_cast<T*>(a.y) + from, v);
    });
  }
};

// ---- Sums over rows.

// The terms that are summed for the gradient of a bias: dy.
template <class T>
struct BiasTerms {
  static constexpr int kSums = 1;
  const T* dy;
  template <int N>
  WINNOW_DEVICE_FN void take(Index at, Index, float (&sums)[1][N]) const {
    const Floats<N> g = load<N>(dy + at);
    for (int i = 0; i < N; ++i) sums[0][i] += g.at[i];
  }
  float* dbias;
  WINNOW_DEVICE_FN void put(Index channel, const double (&sums)[1]) const {
    dbias[channel] = static_cast<float>(sums[0]);
  }
};

// Returns dy times the gradient of the ReLU.
template <int N, class T>
WINNOW_DEVICE_FN Floats<N> gated(const BatchNormBackward& a, Index at) {
  Floats<N> g = load<N>(static_cast<const T*>(a.dy) + at);
  if (a.y != nullptr) {
    const Floats<N> y = load<N>(static_cast<const T*>(a.y) + at);
    for (int i = 0; i < N; ++i) g.at[i] = y.at[i] > 0 ? g.at[i] : 0;
  }
  return g;
}

// The terms of a batch norm's backward pass that are summed for each channel: dshift and dscale.
template <class T>
struct NormTerms {
  static constexpr int kSums = 2;
  BatchNormBackward a;
  template <int N>
  WINNOW_DEVICE_FN void take(Index at, Index channel, float (&sums)[2][N]) const {
    const Floats<N> g = gated<N, T>(a, at);
    const Floats<N> x = load<N>(static_cast<const T*>(a.x) + at);
    for (int i = 0; i < N; ++i) {
      sums[0][i] += g.at[i];
      sums[1][i] += g.at[i] * (x.at[i] - a.statistics.mean[channel + i]);
    }
  }
  WINNOW_DEVICE_FN void put(Index channel, const double (&sums)[2]) const {
    a.gradients.dshift[channel] = static_cast<float>(sums[0]);
    a.gradients.dscale[channel] = static_cast<float>(
        sums[1] * inverse_deviation(a.statistics.variance[channel], a.layer.epsilon));
    if (a.gradients.mean_product == nullptr) return;
    const auto rows = static_cast<float>(a.layer.rows);
    a.gradients.mean_product[channel] = a.gradients.dscale[channel] / rows;
    a.gradients.mean_gradient[channel] = a.gradients.dshift[channel] / rows;
  }
};

template <class T, int N, class Terms>
struct ChannelSumsKernel {
  static constexpr const char* kName = "sums by channels";
  static constexpr int kPhases = 2;
  static constexpr int kSums = Terms::kSums;
  struct Shared {
    double at[kSums][N][kThreads];
  };
  Terms terms;
  Index channels;
  Parts parts;
  double* to;  // shape (kSums, parts, channels)
  Tiling tiles = tiling(channels, N);

  LaunchShape shape() const { return {tiles.tiles * parts.parts, kThreads}; }

  template <int kPhase>
  WINNOW_DEVICE_FN void run(const Place& at, Shared& shared) const {
    const Spot s = spot(tiles, at);
    if constexpr (kPhase == 0) {
      if (s.group < tiles.groups) sum_rows(s, at.thread, shared);
    } else {
      const int x = at.thread / N;
      const int i = at.thread % N;
      const Index group = s.group - s.x + x;
      if (x >= tiles.width() || group >= tiles.groups) return;
      for (int k = 0; k < kSums; ++k) {
        to[(k * parts.parts + s.slab) * channels + group * N + i] =
            column_sum(shared.at[k][i], tiles, x);
      }
    }
  }

 private:
  WINNOW_DEVICE_FN void sum_rows(const Spot& s, int thread, Shared& shared) const {
    double all[kSums][N] = {};
    const Index end = parts.begin(s.slab + 1);
    const Index step = tiles.height();
    for (Index first = parts.begin(s.slab) + s.y; first < end; first += kChunk * step) {
      const Index last = least(end, first + kChunk * step);
      float chunk[kSums][N] = {};
      for (Index row = first; row < last; row += step) {
        terms.template take<N>(row * channels + s.group * N, s.group * N, chunk);
      }
      for (int k = 0; k < kSums; ++k) {
        for (int i = 0; i < N; ++i) all[k][i] += chunk[k][i];
      }
    }
    for (int k = 0; k < kSums; ++k) {
      for (int i = 0; i < N; ++i) shared.at[k][i][thread] = all[k][i];
    }
  }
};

template <class Terms>
struct FinishSumsKernel {
  static constexpr const char* kName = "sums by channels of all parts";
  static constexpr int kPhases = 2;
  static constexpr int kSums = Terms::kSums;
  struct Shared {
    double at[kSums][kThreads];
  };
  Terms terms;
  Index channels;
  Parts parts;
  const double* from;  // shape (kSums, parts, channels)
  Tiling tiles = tiling_of_parts(channels);

  LaunchShape shape() const { return {tiles.tiles, kThreads}; }

  template <int kPhase>
  WINNOW_DEVICE_FN void run(const Place& at, Shared& shared) const {
    const Spot s = spot(tiles, at);
    if (s.group >= channels) return;
    double sums[kSums] = {};
    if constexpr (kPhase == 0) {
      for (int k = 0; k < kSums; ++k) {
        for (Index part = s.y; part < parts.parts; part += tiles.height()) {
          sums[k] += from[(k * parts.parts + part) * channels + s.group];
        }
        shared.at[k][at.thread] = sums[k];
      }
    } else if (s.y == 0) {
      for (int k = 0; k < kSums; ++k) sums[k] = column_sum(shared.at[k], tiles, s.x);
      terms.put(s.group, sums);
    }
  }
};

// Computes dx = scale * inverse * (g - dshift / rows - (x - mean) * inverse * dscale / rows), where
// g is dy after the ReLU's gradient. If mean_product and mean_gradient are given, they replace
// dscale / rows and dshift / rows.
template <class T, int N>
struct BatchNormBackwardKernel {
  static constexpr const char* kName = "batch norm, backward";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  BatchNormBackward a;
  Tiling tiles = tiling(a.layer.channels, N);

  LaunchShape shape() const { return matrix_shape(tiles, a.layer.rows); }

  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    const Spot s = spot(tiles, at);
    if (s.group >= tiles.groups) return;
    const Index c = s.group * N;
    const auto rows = static_cast<float>(a.layer.rows);
    float mean[N];
    float factor[N];
    float by_x[N];
    float constant[N];
    for (int i = 0; i < N; ++i) {
      const float inverse = inverse_deviation(a.statistics.variance[c + i], a.layer.epsilon);
      mean[i] = a.statistics.mean[c + i];
      factor[i] = a.scale[c + i] * inverse;
      if (a.gradients.mean_product != nullptr) {
        by_x[i] = inverse * a.gradients.mean_product[c + i];
        constant[i] = a.gradients.mean_gradient[c + i];
      } else {
        by_x[i] = inverse * a.gradients.dscale[c + i] / rows;
        constant[i] = a.gradients.dshift[c + i] / rows;
      }
    }
    for_rows(tiles, s, a.layer.rows, [&](Index row) {
      const Index from = row * a.layer.channels + c;
      const Floats<N> g = gated<N, T>(a, from);
      Floats<N> v = load<N>(static_cast<const T*>(a.x) + from);
      for (int i = 0; i < N; ++i) {
        v.at[i] = factor[i] * (g.at[i] - constant[i] - (v.at[i] - mean[i]) * by_x[i]);
      }
      if (a.gradients.dresidual != nullptr)
        store<N>(static_cast<T*>(a.gradients.dresidual) + from, g);
      store<N>(static_cast<T*>(a.gradients.dx) + from, v);
    });
  }
};

}  // namespace winnow::train::cudnn::kernels

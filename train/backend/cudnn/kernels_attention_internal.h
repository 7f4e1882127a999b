#pragma once

#include "train/backend/cudnn/kernels_base_internal.h"
#include "train/backend/cudnn/kernels_launch_internal.h"

// Kernels of attention, without its matrix products.
namespace winnow::train::cudnn::kernels {

// Moves elements between token rows and head matrices (Heads). Neighbouring threads process
// neighbouring elements of the matrices.
template <class T, bool kSplits>
struct HeadsKernel {
  static constexpr const char* kName = kSplits ? "split heads" : "join heads";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  Heads a;

  LaunchShape shape() const { return flat_shape<1>(a.batch * a.heads * a.tokens * a.width); }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    for_flat<1>(at, a.batch * a.heads * a.tokens * a.width, [this](Index i, auto) {
      const QuotientRest column = split(i, a.width);
      const QuotientRest token = split(column.quotient, a.tokens);
      const QuotientRest head = split(token.quotient, a.heads);
      T* row = static_cast<T*>(a.rows) + (head.quotient * a.tokens + token.rest) * a.row_stride +
               head.rest * a.width + column.rest;
      T* place = static_cast<T*>(a.matrices) + i;
      if constexpr (kSplits) {
        *place = *row;
      } else {
        *row = *place;
      }
    });
  }
};

template <class T, class Result>
struct DirectMatmulKernel {
  static constexpr const char* kName = "direct matrix product";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  DirectMatmul a;

  LaunchShape shape() const {
    return flat_shape<1>(a.description.batch * a.description.m * a.description.n);
  }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    const MatmulDescription& d = a.description;
    for_flat<1>(at, d.batch * d.m * d.n, [this, &d](Index i, auto) {
      const QuotientRest column = split(i, d.n);
      const QuotientRest row = split(column.quotient, d.m);
      const T* from = static_cast<const T*>(a.a) + row.quotient * d.m * d.k;
      const T* by = static_cast<const T*>(a.b) + row.quotient * d.k * d.n;
      float sum = 0;
      for (Index k = 0; k < d.k; ++k) {
        sum += as_float(from[d.transpose_a ? k * d.m + row.rest : row.rest * d.k + k]) *
               as_float(by[d.transpose_b ? column.rest * d.k + k : k * d.n + column.rest]);
      }
      static_cast<Result*>(a.result)[i] = element<Result>(sum);
    });
  }
};

// ---- Softmax of rows, with kLine threads for each row. Neighbouring threads read neighbouring
// elements.

inline constexpr int kLine = 16;
inline constexpr int kLines = kThreads / kLine;  // number of rows that a thread block processes

struct LineShared {
  float greatest[kThreads];
  float sum[kThreads];
};

// Calls f(element) for the elements of a row that this thread processes.
template <class Function>
WINNOW_DEVICE_FN void for_line(const Place& at, Index rows, Index columns, Function f) {
  const Index row = at.block * kLines + at.thread / kLine;
  if (row >= rows) return;
  for (Index c = at.thread % kLine; c < columns; c += kLine) f(row * columns + c);
}

// Returns the sum over the threads that process this thread's row, in thread order.
WINNOW_DEVICE_FN float line_sum(const float* of_threads, int thread) {
  const int first = thread / kLine * kLine;
  float sum = 0;
  for (int i = 0; i < kLine; ++i) sum += of_threads[first + i];
  return sum;
}

template <class T>
struct SoftmaxKernel {
  static constexpr const char* kName = "softmax";
  static constexpr int kPhases = 3;
  using Shared = LineShared;
  Softmax a;

  LaunchShape shape() const { return {greatest(1, ceil_div(a.rows, kLines)), kThreads}; }
  template <int kPhase>
  WINNOW_DEVICE_FN void run(const Place& at, Shared& shared) const {
    if constexpr (kPhase == 0) {
      float top = -INFINITY;
      for_line(at, a.rows, a.columns, [&](Index i) { top = a.x[i] > top ? a.x[i] : top; });
      shared.greatest[at.thread] = top;
    } else if constexpr (kPhase == 1) {
      const float top = line_greatest(shared, at.thread);
      float sum = 0;
      for_line(at, a.rows, a.columns, [&](Index i) { sum += exponential(a.x[i], top); });
      shared.sum[at.thread] = sum;
    } else {
      const float top = line_greatest(shared, at.thread);
      const float inverse = 1 / line_sum(shared.sum, at.thread);
      for_line(at, a.rows, a.columns, [&](Index i) {
        static_cast<T*>(a.y)[i] = element<T>(exponential(a.x[i], top) * inverse);
      });
    }
  }

 private:
  WINNOW_DEVICE_FN float exponential(float x, float top) const {
    return std::exp(a.factor * (x - top));
  }
  WINNOW_DEVICE_FN static float line_greatest(const Shared& shared, int thread) {
    const int first = thread / kLine * kLine;
    float top = shared.greatest[first];
    for (int i = 1; i < kLine; ++i) {
      const float v = shared.greatest[first + i];
      top = v > top ? v : top;
    }
    return top;
  }
};

template <class T>
struct SoftmaxBackwardKernel {
  static constexpr const char* kName = "softmax, backward";
  static constexpr int kPhases = 2;
  using Shared = LineShared;
  SoftmaxBackward a;

  LaunchShape shape() const { return {greatest(1, ceil_div(a.rows, kLines)), kThreads}; }
  template <int kPhase>
  WINNOW_DEVICE_FN void run(const Place& at, Shared& shared) const {
    const T* y = static_cast<const T*>(a.y);
    if constexpr (kPhase == 0) {
      float sum = 0;
      for_line(at, a.rows, a.columns, [&](Index i) { sum += as_float(y[i]) * a.dy[i]; });
      shared.sum[at.thread] = sum;
    } else {
      const float sum = line_sum(shared.sum, at.thread);
      for_line(at, a.rows, a.columns, [&](Index i) {
        static_cast<T*>(a.dx)[i] = element<T>(a.factor * as_float(y[i]) * (a.dy[i] - sum));
      });
    }
  }
};

template <class Launcher, bool kSplits>
void move_heads(const Heads& a, Stream& stream) {
  by_type(a.type, [&](auto type) {
    launch<Launcher>(HeadsKernel<TypeOf<decltype(type)>, kSplits>{a}, stream);
  });
}

template <class Launcher>
void direct_matmul(const DirectMatmul& a, Stream& stream) {
  by_type(a.description.type, [&](auto type) {
    by_type(a.description.result, [&](auto result) {
      launch<Launcher>(DirectMatmulKernel<TypeOf<decltype(type)>, TypeOf<decltype(result)>>{a},
                       stream);
    });
  });
}

template <class Launcher>
void softmax(const Softmax& a, Stream& stream) {
  by_type(a.type,
          [&](auto type) { launch<Launcher>(SoftmaxKernel<TypeOf<decltype(type)>>{a}, stream); });
}

template <class Launcher>
void softmax_backward(const SoftmaxBackward& a, Stream& stream) {
  by_type(a.type, [&](auto type) {
    launch<Launcher>(SoftmaxBackwardKernel<TypeOf<decltype(type)>>{a}, stream);
  });
}

}  // namespace winnow::train::cudnn::kernels

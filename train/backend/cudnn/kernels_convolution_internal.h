#pragma once

#include "train/backend/cudnn/kernels_base_internal.h"

// Convolutions by simple loops, with one thread for each element of the result. Used if the library
// has no kernel.
namespace winnow::train::cudnn::kernels {

// Sums products in f32 in short runs, and adds the partial sums in f64, so that rounding errors
// stay small.
class LongSum {
 public:
  WINNOW_DEVICE_FN void add(float a, float b) {
    part_ += a * b;
    if (++count_ < 64) return;
    whole_ += part_;
    part_ = 0;
    count_ = 0;
  }
  WINNOW_DEVICE_FN float sum() const { return static_cast<float>(whole_ + part_); }

 private:
  double whole_ = 0;
  float part_ = 0;
  int count_ = 0;
};

template <class T, class Result, Pass kPass>
struct DirectConvolutionKernel {
  static constexpr const char* kName = "direct convolution";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  ConvExtents d;
  const T* a;
  const T* b;
  Result* result;

  WINNOW_DEVICE_FN Index count() const {
    if constexpr (kPass == Pass::kForward) return d.x.n * d.y.h * d.y.w * d.y.c;
    if constexpr (kPass == Pass::kBackwardData) return d.x.n * d.x.h * d.x.w * d.x.c;
    if constexpr (kPass == Pass::kBackwardFilter) return d.y.c * d.r * d.s * filter_channels();
  }
  LaunchShape shape() const { return flat_shape<1>(count()); }

  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    for_flat<1>(at, count(), [this](Index i, auto) {
      if constexpr (kPass == Pass::kForward) result[i] = element<Result>(forward(i));
      if constexpr (kPass == Pass::kBackwardData) result[i] = element<Result>(backward_data(i));
      if constexpr (kPass == Pass::kBackwardFilter) result[i] = element<Result>(backward_filter(i));
    });
  }

 private:
  // Position of the input element that output position p reads with filter element r, along one
  // axis.
  WINNOW_DEVICE_FN static Index read_at(const ConvAxis& axis, Index p, Index r) {
    return p * axis.stride + r * axis.dilation - axis.before;
  }
  WINNOW_DEVICE_FN Index filter_channels() const { return divide(d.x.c, d.groups); }
  WINNOW_DEVICE_FN Index group_of_filter(Index k) const {
    return divide(k, divide(d.y.c, d.groups));
  }

  // One element of y. Operands a = x, b = w.
  WINNOW_DEVICE_FN float forward(Index i) const {
    const QuotientRest k = split(i, d.y.c);
    const QuotientRest q = split(k.quotient, d.y.w);
    const QuotientRest p = split(q.quotient, d.y.h);
    const Index channels = filter_channels();
    const Index first = group_of_filter(k.rest) * channels;
    LongSum sum;
    for (Index r = 0; r < d.r; ++r) {
      const Index h = read_at(d.axes.rows, p.rest, r);
      if (h < 0 || h >= d.x.h) continue;
      for (Index s = 0; s < d.s; ++s) {
        const Index w = read_at(d.axes.columns, q.rest, s);
        if (w < 0 || w >= d.x.w) continue;
        const T* x = a + ((p.quotient * d.x.h + h) * d.x.w + w) * d.x.c + first;
        const T* filter = b + ((k.rest * d.r + r) * d.s + s) * channels;
        for (Index c = 0; c < channels; ++c) sum.add(as_float(x[c]), as_float(filter[c]));
      }
    }
    return sum.sum();
  }

  // One element of dx. Operands a = dy, b = w.
  WINNOW_DEVICE_FN float backward_data(Index i) const {
    const QuotientRest c = split(i, d.x.c);
    const QuotientRest w = split(c.quotient, d.x.w);
    const QuotientRest h = split(w.quotient, d.x.h);
    const QuotientRest group = split(c.rest, filter_channels());
    const Index filters = divide(d.y.c, d.groups);
    const Index first = group.quotient * filters;
    LongSum sum;
    for (Index r = 0; r < d.r; ++r) {
      const Index down = h.rest - read_at(d.axes.rows, 0, r);
      if (down < 0) continue;
      const QuotientRest p = split(down, d.axes.rows.stride);
      if (p.rest != 0 || p.quotient >= d.y.h) continue;
      for (Index s = 0; s < d.s; ++s) {
        const Index right = w.rest - read_at(d.axes.columns, 0, s);
        if (right < 0) continue;
        const QuotientRest q = split(right, d.axes.columns.stride);
        if (q.rest != 0 || q.quotient >= d.y.w) continue;
        const T* dy = a + ((h.quotient * d.y.h + p.quotient) * d.y.w + q.quotient) * d.y.c + first;
        const Index step = d.r * d.s * filter_channels();
        const T* filter = b + first * step + (r * d.s + s) * filter_channels() + group.rest;
        for (Index k = 0; k < filters; ++k) sum.add(as_float(dy[k]), as_float(filter[k * step]));
      }
    }
    return sum.sum();
  }

  // One element of dw. Operands a = x, b = dy.
  WINNOW_DEVICE_FN float backward_filter(Index i) const {
    const QuotientRest c = split(i, filter_channels());
    const QuotientRest s = split(c.quotient, d.s);
    const QuotientRest r = split(s.quotient, d.r);
    const Index channel = group_of_filter(r.quotient) * filter_channels() + c.rest;
    LongSum sum;
    for (Index n = 0; n < d.x.n; ++n) {
      for (Index p = 0; p < d.y.h; ++p) {
        const Index h = read_at(d.axes.rows, p, r.rest);
        if (h < 0 || h >= d.x.h) continue;
        for (Index q = 0; q < d.y.w; ++q) {
          const Index w = read_at(d.axes.columns, q, s.rest);
          if (w < 0 || w >= d.x.w) continue;
          sum.add(as_float(a[((n * d.x.h + h) * d.x.w + w) * d.x.c + channel]),
                  as_float(b[((n * d.y.h + p) * d.y.w + q) * d.y.c + r.quotient]));
        }
      }
    }
    return sum.sum();
  }
};

}  // namespace winnow::train::cudnn::kernels

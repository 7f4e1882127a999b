#include "train/backend/onednn/kernels/base_internal.h"
#include "train/backend/onednn/kernels/functions_internal.h"

// Products are in f32; each element is summed by one thread in a fixed order. Other sums are in
// f64.
namespace winnow::train::kernels::WINNOW_ISA {
namespace {

// result[row][column] = factor * sum over k of p[row * p_row + k * p_step] * q[k][column].
struct Product {
  const float* p;
  Index p_row, p_step;
  const float* q;
  float* result;
  Index rows, steps;
  Index width;  // columns of q and the result, a multiple of kLanes
  float factor;
};

template <int kRows, int kVectors>
void product_tile(const Product& m, Index row, Index column) {
  Floats sums[kRows][kVectors] = {};
  for (Index k = 0; k < m.steps; ++k) {
    Floats q[kVectors];
    for (int v = 0; v < kVectors; ++v) q[v] = load(m.q + k * m.width + column + v * kLanes);
    for (int r = 0; r < kRows; ++r) {
      const float p = m.p[(row + r) * m.p_row + k * m.p_step];
      for (int v = 0; v < kVectors; ++v) sums[r][v] += q[v] * p;
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      store(m.result + (row + r) * m.width + column + v * kLanes, sums[r][v] * m.factor);
    }
  }
}

template <int kRows>
void product_rows(const Product& m, Index row) {
  constexpr int kVectors = 2;
  Index column = 0;
  for (; column + kVectors * kLanes <= m.width; column += kVectors * kLanes) {
    product_tile<kRows, kVectors>(m, row, column);
  }
  if (column < m.width) product_tile<kRows, 1>(m, row, column);
}

void product(const Product& m, int threads) {
  constexpr int kRows = 4;
  parallel_pieces(m.rows, kRows, threads, [=](Index begin, Index end) {
    if (end - begin == kRows) return product_rows<kRows>(m, begin);
    for (Index row = begin; row < end; ++row) product_rows<1>(m, row);
  });
}

// Calls f(view, first column, lanes) for the columns of both views, each block on one thread.
template <class Function>
void for_columns(const TwinsLayer& layer, int threads, Function f) {
  const Index width = twins_width(layer);
  parallel_pieces(2 * width, kLanes, threads, [=](Index begin, Index) {
    const Index view = begin / width;
    const Index column = begin - view * width;
    f(view, column, static_cast<int>(least(kLanes, layer.features - column)));
  });
}

template <class T>
void normalise(const BarlowTwins& a, const TwinsScratch& s, int threads) {
  const TwinsLayer layer = a.layer;
  const Index width = twins_width(layer);
  for_columns(layer, threads, [=, z = static_cast<const T*>(a.z)](Index view, Index c, int lanes) {
    const auto row = [=](Index n) {
      return load_block(z + (2 * n + view) * layer.features + c, lanes);
    };
    Doubles sum = {};
    for (Index n = 0; n < layer.pairs; ++n) sum += wide(row(n));
    const Doubles mean = sum / static_cast<double>(layer.pairs);
    Doubles squares = {};
    for (Index n = 0; n < layer.pairs; ++n) {
      const Doubles d = wide(row(n)) - mean;
      squares += d * d;
    }
    Doubles inverse = {};
    for (int i = 0; i < lanes; ++i) {
      const double variance = squares[i] / static_cast<double>(layer.pairs);
      inverse[i] = 1 / __builtin_sqrt(variance + layer.epsilon);
    }
    store(s.inverse + view * width + c, __builtin_convertvector(inverse, Floats));
    for (Index n = 0; n < layer.pairs; ++n) {
      store(s.normal + (view * layer.pairs + n) * width + c,
            __builtin_convertvector((wide(row(n)) - mean) * inverse, Floats));
    }
  });
}

// Computes the rows of `correlation`, one for each feature of the first views.
void correlate(const TwinsLayer& layer, const TwinsScratch& s, int threads) {
  const Index width = twins_width(layer);
  product({.p = s.normal,
           .p_row = 1,
           .p_step = width,
           .q = s.normal + layer.pairs * width,
           .result = s.correlation,
           .rows = layer.features,
           .steps = layer.pairs,
           .width = width,
           .factor = static_cast<float>(1 / static_cast<double>(layer.pairs))},
          threads);
}

double sum_of(const float* numbers, Index count) {
  double sum = 0;
  for (Index i = 0; i < count; ++i) sum += static_cast<double>(numbers[i]);
  return sum;
}

// Replaces the correlation by its gradient, for a loss with this weight.
void differentiate(const TwinsLayer& layer, const TwinsScratch& s, double weight, int threads) {
  const Index width = twins_width(layer);
  const auto own = static_cast<float>(2 * weight / static_cast<double>(layer.features));
  const auto others =
      static_cast<float>(2 * weight * layer.redundancy / static_cast<double>(layer.features));
  parallel_pieces(width, kLanes, threads, [=](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      float* row = s.correlation + i * width;
      const bool is_feature = i < layer.features;
      for (Index j = 0; j < width; ++j) {
        const float slope = is_feature ? (i == j ? own * (row[j] - 1) : others * row[j]) : 0;
        row[j] = slope;
        s.transposed[j * width + i] = slope;
      }
    }
  });
}

// dz = inverse * (g - mean(g) - normal * mean(g * normal)), where g is the gradient with respect to
// `normal`.
template <class T>
void denormalise(const BarlowTwins& a, const TwinsScratch& s, int threads) {
  const TwinsLayer layer = a.layer;
  const Index width = twins_width(layer);
  for_columns(layer, threads, [=, dz = static_cast<T*>(a.dz)](Index view, Index c, int lanes) {
    const auto at = [=](Index n) { return (view * layer.pairs + n) * width + c; };
    Doubles sum = {};
    Doubles products = {};
    for (Index n = 0; n < layer.pairs; ++n) {
      const Doubles g = wide(load(s.gradient + at(n)));
      sum += g;
      products += g * wide(load(s.normal + at(n)));
    }
    const auto pairs = static_cast<double>(layer.pairs);
    const Doubles inverse = wide(load(s.inverse + view * width + c));
    for (Index n = 0; n < layer.pairs; ++n) {
      const Doubles g = wide(load(s.gradient + at(n)));
      const Doubles normal = wide(load(s.normal + at(n)));
      const Doubles d = inverse * (g - sum / pairs - normal * (products / pairs));
      store_block(dz + (2 * n + view) * layer.features + c, __builtin_convertvector(d, Floats),
                  lanes);
    }
  });
}

template <class T>
void barlow_twins_typed(const BarlowTwins& a, int threads) {
  const TwinsScratch s = twins_scratch(a.layer, a.scratch);
  const TwinsLayer layer = a.layer;
  const Index width = twins_width(layer);
  normalise<T>(a, s, threads);
  correlate(layer, s, threads);
  parallel_pieces(layer.features, kLanes, threads, [=](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const float* row = s.correlation + i * width;
      double others = 0;
      for (Index j = 0; j < layer.features; ++j) {
        const auto c = static_cast<double>(row[j]);
        others += i == j ? 0 : c * c;
      }
      const double off = 1 - static_cast<double>(row[i]);
      s.rows[i] = off * off + layer.redundancy * others;
    }
  });
  double loss = 0;
  for (Index i = 0; i < layer.features; ++i) loss += s.rows[i];
  loss /= static_cast<double>(layer.features);
  *a.loss = static_cast<float>(loss * sum_of(a.weights, 2 * layer.pairs));
  for (Index n = 0; n < 2 * layer.pairs; ++n) a.per_sample[n] = static_cast<float>(loss);
}

template <class T>
void barlow_twins_backward_typed(const BarlowTwins& a, int threads) {
  const TwinsScratch s = twins_scratch(a.layer, a.scratch);
  const TwinsLayer& layer = a.layer;
  const Index width = twins_width(layer);
  normalise<T>(a, s, threads);
  correlate(layer, s, threads);
  differentiate(layer, s, sum_of(a.weights, 2 * layer.pairs), threads);
  for (const Index view : {0, 1}) {
    product({.p = s.normal + (1 - view) * layer.pairs * width,
             .p_row = width,
             .p_step = 1,
             .q = view == 0 ? s.transposed : s.correlation,
             .result = s.gradient + view * layer.pairs * width,
             .rows = layer.pairs,
             .steps = layer.features,
             .width = width,
             .factor = static_cast<float>(1 / static_cast<double>(layer.pairs))},
            threads);
  }
  denormalise<T>(a, s, threads);
}

}  // namespace

void barlow_twins(const BarlowTwins& a, int threads) {
  typed<BarlowTwins, barlow_twins_typed<float>, barlow_twins_typed<Bf16>>(a, threads);
}

void barlow_twins_backward(const BarlowTwins& a, int threads) {
  typed<BarlowTwins, barlow_twins_backward_typed<float>, barlow_twins_backward_typed<Bf16>>(
      a, threads);
}

}  // namespace winnow::train::kernels::WINNOW_ISA

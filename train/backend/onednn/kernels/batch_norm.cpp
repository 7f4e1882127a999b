#include "train/backend/onednn/kernels/base_internal.h"
#include "train/backend/onednn/kernels/functions_internal.h"

// Rows are cut into chunks that fit the L1 cache, and chunks are distributed over at most kParts
// parts. A chunk is read twice: for its mean, and for the sums around it. So cancellation is
// bounded by the chunk's own spread. Chunks are summed in f64.

namespace winnow::train::kernels::WINNOW_ISA {
namespace {

struct Partition {
  Index rows;
  Index chunk_rows;
  Index chunks;
  Index parts;
  Index begin(Index part) const { return chunks * part / parts * chunk_rows; }
  Index end(Index part) const { return least(rows, chunks * (part + 1) / parts * chunk_rows); }
};

Partition partition(Index rows, Index channels) {
  Partition p{};
  p.rows = rows;
  p.chunk_rows = greatest(32, 8192 / channels);
  p.chunks = (rows + p.chunk_rows - 1) / p.chunk_rows;
  p.parts = least(p.chunks, kParts);
  return p;
}

// Position of sums among padded(channels). The last block of channels may overlap the one before it
// (for_channels), but positions of sums do not.
struct Places {
  Index place;    // position of a vector of sums
  Index channel;  // the first channel that no earlier vector holds
  int lane;       // lane of that channel in the vector
  int lanes;      // number of channels from there on
};
template <class Function>
void parallel_places(Index channels, int threads, Function f) {
  const Index whole = channels / kLanes * kLanes;
  parallel_pieces(padded(channels) / kLanes, 4, threads, [=](Index begin, Index end) {
    for (Index at = begin * kLanes; at < end * kLanes; at += kLanes) {
      if (at < whole) {
        f(Places{at, at, 0, kLanes});
      } else {
        const int left = static_cast<int>(channels - whole);
        f(Places{at, whole, whole > 0 ? kLanes - left : 0, left});
      }
    }
  });
}

// Calls f<V, kShort>(first channel, position of its sums, lanes) for blocks of V vectors that cover
// all channels. Wide blocks come first; the last block overlaps or is short (for_blocks).
template <class Function>
void for_channels(Index channels, Function f) {
  Index c = 0;
  for (; c + 4 * kLanes <= channels; c += 4 * kLanes) f.template operator()<4, false>(c, c, kLanes);
  for (; c + 2 * kLanes <= channels; c += 2 * kLanes) f.template operator()<2, false>(c, c, kLanes);
  for (; c + kLanes <= channels; c += kLanes) f.template operator()<1, false>(c, c, kLanes);
  if (c < channels && channels >= kLanes) {
    f.template operator()<1, false>(channels - kLanes, c, kLanes);
  } else if (c < channels) {
    f.template operator()<1, true>(Index{0}, c, static_cast<int>(channels));
  }
}

template <class T, bool kShort>
Floats load_as(const T* from, int lanes) {
  if constexpr (kShort) return load(from, lanes);
  return load(from);
}
template <class T, bool kShort>
void store_as(T* to, const Floats& v, int lanes) {
  if constexpr (kShort) {
    store(to, v, lanes);
  } else {
    store(to, v);
  }
}

void add_to(double* sums, const Doubles& v) { store_vector(sums, load_vector<Doubles>(sums) + v); }

// The sums of one part for one channel block, around `pivot`, the mean of the part's first chunk.
struct Moments {
  double* pivot;
  double* first;   // sum of x - pivot
  double* second;  // sum of (x - pivot)^2
};

// Adds a chunk of `count` rows, given its mean, its sum, and its sum of squares around the mean.
inline void add_chunk(Moments to, bool is_first, double count, const Floats& mean,
                      const Floats& sum, const Floats& squares) {
  const Doubles center = wide(mean);
  if (is_first) store_vector(to.pivot, center);
  const Doubles rest = wide(sum) - center * count;  // not zero, because the mean is rounded
  const Doubles d = center - load_vector<Doubles>(to.pivot);
  const Doubles first = rest + d * count;
  const Doubles second = wide(squares) + d * rest * 2.0 + d * d * count;
  if (is_first) {
    store_vector(to.first, first);
    store_vector(to.second, second);
  } else {
    add_to(to.first, first);
    add_to(to.second, second);
  }
}

template <class T, int V, bool kShort>
void chunk_moments(const T* x, Index stride, Index rows, int lanes, bool is_first, Moments to) {
  constexpr int kUnroll = 4 / V;  // independent sums, to hide the latency of additions
  const auto get = [=](Index row, int v) {
    return load_as<T, kShort>(x + row * stride + v * kLanes, lanes);
  };
  Floats sum[kUnroll][V] = {};
  Index row = 0;
  for (; row + kUnroll <= rows; row += kUnroll) {
#pragma GCC unroll 4
    for (int u = 0; u < kUnroll; ++u) {
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[u][v] += get(row + u, v);
    }
  }
  for (; row < rows; ++row) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) sum[0][v] += get(row, v);
  }
  Floats mean[V];
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) {
#pragma GCC unroll 4
    for (int u = 1; u < kUnroll; ++u) sum[0][v] += sum[u][v];
    mean[v] = sum[0][v] / static_cast<float>(rows);
  }

  Floats squares[kUnroll][V] = {};
  const auto take = [&](Index at, int v, Floats& to_squares) {
    const Floats d = get(at, v) - mean[v];
    to_squares += d * d;
  };
  row = 0;
  for (; row + kUnroll <= rows; row += kUnroll) {
#pragma GCC unroll 4
    for (int u = 0; u < kUnroll; ++u) {
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) take(row + u, v, squares[u][v]);
    }
  }
  for (; row < rows; ++row) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) take(row, v, squares[0][v]);
  }

  const auto count = static_cast<double>(rows);
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) {
#pragma GCC unroll 4
    for (int u = 1; u < kUnroll; ++u) squares[0][v] += squares[u][v];
    const int at = v * kLanes;
    add_chunk({to.pivot + at, to.first + at, to.second + at}, is_first, count, mean[v], sum[0][v],
              squares[0][v]);
  }
}

template <class T>
void part_moments(const T* x, Index channels, const Partition& p, Index part, double* sums) {
  const Index width = padded(channels);
  for (Index begin = p.begin(part); begin < p.end(part); begin += p.chunk_rows) {
    const Index rows = least(p.chunk_rows, p.end(part) - begin);
    const bool is_first = begin == p.begin(part);
    const T* chunk = x + begin * channels;
    for_channels(channels, [=]<int V, bool kShort>(Index c, Index to, int lanes) {
      chunk_moments<T, V, kShort>(chunk + c, channels, rows, lanes, is_first,
                                  {sums + to, sums + width + to, sums + 2 * width + to});
    });
  }
}

// Computes means and biased variances from the moments of all parts.
void finish_moments(const BatchNorm& a, const Partition& p, const double* sums, Places at) {
  const Index width = padded(a.layer.channels);
  const auto get = [=](Index part, Index which) {
    return load_vector<Doubles>(sums + (3 * part + which) * width + at.place);
  };
  const Doubles pivot = get(0, 0);
  Doubles shifted = {};
  for (Index part = 0; part < p.parts; ++part) {
    const auto rows = static_cast<double>(p.end(part) - p.begin(part));
    shifted += get(part, 1) + (get(part, 0) - pivot) * rows;
  }
  const auto total = static_cast<double>(a.layer.rows);
  const Doubles mean = pivot + shifted / total;
  Doubles squares = {};
  for (Index part = 0; part < p.parts; ++part) {
    const auto rows = static_cast<double>(p.end(part) - p.begin(part));
    const Doubles d = get(part, 0) - mean;
    squares += get(part, 2) + d * get(part, 1) * 2.0 + d * d * rows;
  }
  for (int i = 0; i < at.lanes; ++i) {
    const double variance = squares[at.lane + i] / total;
    a.statistics.mean[at.channel + i] = static_cast<float>(mean[at.lane + i]);
    a.statistics.variance[at.channel + i] = variance < 0 ? 0.0F : static_cast<float>(variance);
  }
}

double inverse_deviation(float variance, double epsilon) {
  return 1.0 / __builtin_sqrt(static_cast<double>(variance) + epsilon);
}

void set_coefficients(const BatchNorm& a) {
  const Index width = padded(a.layer.channels);
  for (Index c = 0; c < width; ++c) {
    const bool real = c < a.layer.channels;
    a.memory.coefficients[c] = real ? a.statistics.mean[c] : 0;
    a.memory.coefficients[width + c] =
        real ? static_cast<float>(a.scale[c] *
                                  inverse_deviation(a.statistics.variance[c], a.layer.epsilon))
             : 0;
    a.memory.coefficients[2 * width + c] = real ? a.shift[c] : 0;
  }
}

// The normalisation of a block of channels. Forward and backward share this function, because they
// must agree on the sign of its result.
template <int V>
struct Normalizer {
  Floats mean[V], factor[V], offset[V];

  Normalizer(const float* coefficients, Index width, Index c) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      mean[v] = load(coefficients + c + v * kLanes);
      factor[v] = load(coefficients + width + c + v * kLanes);
      offset[v] = load(coefficients + 2 * width + c + v * kLanes);
    }
  }
  Floats operator()(Floats x, int v) const { return (x - mean[v]) * factor[v] + offset[v]; }
};

template <class T, bool kResidual, bool kRelu>
void apply_norm(const BatchNorm& a, int threads) {
  const auto* x = static_cast<const T*>(a.x);
  const auto* residual = static_cast<const T*>(a.residual);
  auto* y = static_cast<T*>(a.y);
  const Index channels = a.layer.channels;
  const Index width = padded(channels);
  const float* coefficients = a.memory.coefficients;
  const Index grain = partition(a.layer.rows, channels).chunk_rows;
  parallel_pieces(a.layer.rows, grain, threads, [=](Index begin, Index end) {
    for_channels(channels, [=]<int V, bool kShort>(Index c, Index, int lanes) {
      const Normalizer<V> normalized(coefficients, width, c);
      for (Index row = begin; row < end; ++row) {
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) {
          const Index at = row * channels + c + v * kLanes;
          Floats value = normalized(load_as<T, kShort>(x + at, lanes), v);
          if constexpr (kResidual) value += load_as<T, kShort>(residual + at, lanes);
          if constexpr (kRelu) value = rectified(value);
          store_as<T, kShort>(y + at, value, lanes);
        }
      }
    });
  });
}

template <class T>
void inference_typed(const BatchNorm& a, int threads) {
  set_coefficients(a);
  if (a.residual != nullptr) {
    a.layer.relu ? apply_norm<T, true, true>(a, threads) : apply_norm<T, true, false>(a, threads);
  } else {
    a.layer.relu ? apply_norm<T, false, true>(a, threads) : apply_norm<T, false, false>(a, threads);
  }
}

template <class T>
void statistics_typed(const BatchNorm& a, int threads) {
  const auto* x = static_cast<const T*>(a.x);
  auto* sums = static_cast<double*>(a.memory.scratch);
  const Partition p = partition(a.layer.rows, a.layer.channels);
  const Index width = padded(a.layer.channels);
  parallel_pieces(p.parts, 1, threads, [=](Index part, Index) {
    part_moments(x, a.layer.channels, p, part, sums + 3 * width * part);
  });
  parallel_places(a.layer.channels, threads, [=](Places at) { finish_moments(a, p, sums, at); });
}

template <class T>
void batch_norm_typed(const BatchNorm& a, int threads) {
  statistics_typed<T>(a, threads);
  inference_typed<T>(a, threads);
}

// How the gradient before the ReLU is derived from dy.
enum class Gate { kNone, kFromY, kFromX };

template <class T>
struct Gradient {
  const T* x;
  const T* dy;
  const T* y;
  T* dresidual;
  const float* coefficients;  // for Gate::kFromX
  Index width;

  // The gradient for vector v of the block of `normalized`; `value` is x there.
  template <Gate kGate, bool kShort, int V>
  Floats at(Index element, const Normalizer<V>& normalized, Floats value, int v, int lanes) const {
    const Floats g = load_as<T, kShort>(dy + element, lanes);
    if constexpr (kGate == Gate::kFromY) {
      return where_open(load_as<T, kShort>(y + element, lanes), g);
    } else if constexpr (kGate == Gate::kFromX) {
      return where_open(normalized(value, v), g);
    } else {
      return g;
    }
  }
};

// Rows [begin, end), and some lanes of channels starting at c.
struct Chunk {
  Index channels;  // in a row
  Index begin;
  Index end;
  Index c;
  int lanes;
};

// Adds to the sums of g and of g * (x - mean). With kKeep, writes g to dresidual.
template <class T, Gate kGate, bool kKeep, int V, bool kShort>
void chunk_gradient_sums(const Gradient<T>& in, const Chunk& chunk, double* sum_g, double* sum_gx) {
  const Index channels = chunk.channels;
  const Index c = chunk.c;
  const int lanes = chunk.lanes;
  constexpr int kUnroll = 4 / V;
  const Normalizer<V> normalized(in.coefficients, in.width, c);
  Floats g_sum[kUnroll][V] = {};
  Floats gx_sum[kUnroll][V] = {};
  const auto take = [&](Index row, int v, Floats& to_g, Floats& to_gx) {
    const Index element = row * channels + c + v * kLanes;
    const Floats x = load_as<T, kShort>(in.x + element, lanes);
    const Floats g = in.template at<kGate, kShort>(element, normalized, x, v, lanes);
    if constexpr (kKeep) store_as<T, kShort>(in.dresidual + element, g, lanes);
    to_g += g;
    to_gx += g * (x - normalized.mean[v]);
  };
  Index row = chunk.begin;
  for (; row + kUnroll <= chunk.end; row += kUnroll) {
#pragma GCC unroll 4
    for (int u = 0; u < kUnroll; ++u) {
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) take(row + u, v, g_sum[u][v], gx_sum[u][v]);
    }
  }
  for (; row < chunk.end; ++row) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) take(row, v, g_sum[0][v], gx_sum[0][v]);
  }
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) {
    Floats g_total = g_sum[0][v];
    Floats gx_total = gx_sum[0][v];
#pragma GCC unroll 4
    for (int u = 1; u < kUnroll; ++u) {
      g_total += g_sum[u][v];
      gx_total += gx_sum[u][v];
    }
    add_to(sum_g + v * kLanes, wide(g_total));
    add_to(sum_gx + v * kLanes, wide(gx_total));
  }
}

template <class T, Gate kGate, bool kKeep>
void part_gradient_sums(const Gradient<T>& in, Index channels, const Partition& p, Index part,
                        double* sums) {
  const Index width = padded(channels);
  for (Index i = 0; i < 2 * width; ++i) sums[i] = 0;
  for (Index begin = p.begin(part); begin < p.end(part); begin += p.chunk_rows) {
    const Index end = least(begin + p.chunk_rows, p.end(part));
    for_channels(channels, [&]<int V, bool kShort>(Index c, Index to, int lanes) {
      chunk_gradient_sums<T, kGate, kKeep, V, kShort>(in, {channels, begin, end, c, lanes},
                                                      sums + to, sums + width + to);
    });
  }
}

// dx = by_g * g + (x - mean) * by_x + constant, for each channel; each array is padded to a whole
// vector.
struct Coefficients {
  float* by_g;
  float* by_x;
  float* constant;
};

// With kKeep, writes g to dresidual.
template <class T, Gate kGate, bool kKeep>
void apply_gradient(const BatchNormBackward& a, const Gradient<T>& in, const Coefficients& by,
                    int threads) {
  auto* dx = static_cast<T*>(a.gradients.dx);
  const Index channels = a.layer.channels;
  const Index grain = partition(a.layer.rows, channels).chunk_rows;
  parallel_pieces(a.layer.rows, grain, threads, [=](Index begin, Index end) {
    for_channels(channels, [=]<int V, bool kShort>(Index c, Index, int lanes) {
      const Normalizer<V> normalized(in.coefficients, in.width, c);
      Floats of_g[V], of_x[V], of_none[V];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        of_g[v] = load(by.by_g + c + v * kLanes);
        of_x[v] = load(by.by_x + c + v * kLanes);
        of_none[v] = load(by.constant + c + v * kLanes);
      }
      for (Index row = begin; row < end; ++row) {
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) {
          const Index element = row * channels + c + v * kLanes;
          const Floats x = load_as<T, kShort>(in.x + element, lanes);
          const Floats g = in.template at<kGate, kShort>(element, normalized, x, v, lanes);
          if constexpr (kKeep) store_as<T, kShort>(in.dresidual + element, g, lanes);
          const Floats value = of_g[v] * g + ((x - normalized.mean[v]) * of_x[v] + of_none[v]);
          store_as<T, kShort>(dx + element, value, lanes);
        }
      }
    });
  });
}

// The scratch memory of a backward.
struct BackwardScratch {
  double* sums;  // sums of all parts
  Coefficients by;
  float* only_mean;  // coefficients of a Normalizer with the mean alone
};
BackwardScratch scratch_of(const BatchNormBackward& a) {
  const Index width = padded(a.layer.channels);
  auto* sums = static_cast<double*>(a.memory.scratch);
  auto* by_g = reinterpret_cast<float*>(sums + 3 * kParts * width);
  const BackwardScratch scratch{sums, {by_g, by_g + width, by_g + 2 * width}, by_g + 3 * width};
  for (Index c = 0; c < 3 * width; ++c) {
    by_g[c] = 0;
    scratch.only_mean[c] = c < a.layer.channels ? a.statistics.mean[c] : 0;
  }
  return scratch;
}

template <class T, Gate kGate>
Gradient<T> gradient_of(const BatchNormBackward& a, const BackwardScratch& scratch) {
  return {static_cast<const T*>(a.x),
          static_cast<const T*>(a.dy),
          static_cast<const T*>(a.y),
          static_cast<T*>(a.gradients.dresidual),
          kGate == Gate::kFromX ? a.memory.coefficients : scratch.only_mean,
          padded(a.layer.channels)};
}

// Calls finish(channel, sum of g, sum of g * (x - mean)) for each channel.
template <class T, Gate kGate, bool kKeep, class Finish>
void sum_gradient(const BatchNormBackward& a, const Gradient<T>& in, double* sums, int threads,
                  Finish finish) {
  const Index channels = a.layer.channels;
  const Partition p = partition(a.layer.rows, channels);
  const Index width = padded(channels);
  parallel_pieces(p.parts, 1, threads, [=](Index part, Index) {
    part_gradient_sums<T, kGate, kKeep>(in, channels, p, part, sums + 2 * width * part);
  });
  parallel_places(channels, threads, [=](Places at) {
    Doubles g = {};
    Doubles gx = {};
    for (Index part = 0; part < p.parts; ++part) {
      g += load_vector<Doubles>(sums + 2 * width * part + at.place);
      gx += load_vector<Doubles>(sums + 2 * width * part + width + at.place);
    }
    for (int i = 0; i < at.lanes; ++i) finish(at.channel + i, g[at.lane + i], gx[at.lane + i]);
  });
}

template <class T, Gate kGate, bool kKeep>
void batch_norm_backward_gated(const BatchNormBackward& a, int threads) {
  const BackwardScratch scratch = scratch_of(a);
  const Coefficients by = scratch.by;
  Gradient<T> in = gradient_of<T, kGate>(a, scratch);
  const auto rows = static_cast<double>(a.layer.rows);
  sum_gradient<T, kGate, kKeep>(
      a, in, scratch.sums, threads, [=](Index c, double sum_g, double sum_gx) {
        const double inverse = inverse_deviation(a.statistics.variance[c], a.layer.epsilon);
        const double factor = a.scale[c] * inverse;
        a.gradients.dshift[c] = static_cast<float>(sum_g);
        a.gradients.dscale[c] = static_cast<float>(sum_gx * inverse);
        by.by_g[c] = static_cast<float>(factor);
        by.by_x[c] = static_cast<float>(-factor * inverse * inverse * sum_gx / rows);
        by.constant[c] = static_cast<float>(-factor * sum_g / rows);
      });
  if constexpr (kKeep) {
    in.dy = in.dresidual;  // already gated
    apply_gradient<T, Gate::kNone, false>(a, in, by, threads);
  } else {
    apply_gradient<T, kGate, false>(a, in, by, threads);
  }
}

template <class T, Gate kGate>
void sums_gated(const BatchNormBackward& a, int threads) {
  const BackwardScratch scratch = scratch_of(a);
  const auto rows = static_cast<double>(a.layer.rows);
  sum_gradient<T, kGate, false>(a, gradient_of<T, kGate>(a, scratch), scratch.sums, threads,
                                [=](Index c, double sum_g, double sum_gx) {
                                  const double product =
                                      sum_gx *
                                      inverse_deviation(a.statistics.variance[c], a.layer.epsilon);
                                  a.gradients.dshift[c] = static_cast<float>(sum_g);
                                  a.gradients.dscale[c] = static_cast<float>(product);
                                  a.gradients.mean_gradient[c] = static_cast<float>(sum_g / rows);
                                  a.gradients.mean_product[c] = static_cast<float>(product / rows);
                                });
}

template <class T>
void sums_typed(const BatchNormBackward& a, int threads) {
  a.y != nullptr ? sums_gated<T, Gate::kFromY>(a, threads) : sums_gated<T, Gate::kNone>(a, threads);
}

template <class T>
void input_gradient_typed(const BatchNormBackward& a, int threads) {
  const BackwardScratch scratch = scratch_of(a);
  const Coefficients& by = scratch.by;
  for (Index c = 0; c < a.layer.channels; ++c) {
    const double inverse = inverse_deviation(a.statistics.variance[c], a.layer.epsilon);
    const double factor = a.scale[c] * inverse;
    by.by_g[c] = static_cast<float>(factor);
    by.by_x[c] = static_cast<float>(-factor * inverse * a.gradients.mean_product[c]);
    by.constant[c] = static_cast<float>(-factor * a.gradients.mean_gradient[c]);
  }
  const Gradient<T> in = gradient_of<T, Gate::kFromY>(a, scratch);
  if (a.y == nullptr) {
    apply_gradient<T, Gate::kNone, false>(a, in, by, threads);
  } else if (a.gradients.dresidual == nullptr) {
    apply_gradient<T, Gate::kFromY, false>(a, in, by, threads);
  } else {
    apply_gradient<T, Gate::kFromY, true>(a, in, by, threads);
  }
}

template <class T>
void batch_norm_backward_typed(const BatchNormBackward& a, int threads) {
  if (a.y != nullptr && a.gradients.dresidual != nullptr) {
    batch_norm_backward_gated<T, Gate::kFromY, true>(a, threads);
  } else if (a.y != nullptr) {
    batch_norm_backward_gated<T, Gate::kFromY, false>(a, threads);
  } else if (a.memory.coefficients != nullptr) {
    batch_norm_backward_gated<T, Gate::kFromX, false>(a, threads);
  } else {
    batch_norm_backward_gated<T, Gate::kNone, false>(a, threads);
  }
}

}  // namespace

void batch_norm(const BatchNorm& a, int threads) {
  typed<BatchNorm, batch_norm_typed<float>, batch_norm_typed<Bf16>>(a, threads);
}

void batch_norm_inference(const BatchNorm& a, int threads) {
  typed<BatchNorm, inference_typed<float>, inference_typed<Bf16>>(a, threads);
}

void batch_norm_statistics(const BatchNorm& a, int threads) {
  typed<BatchNorm, statistics_typed<float>, statistics_typed<Bf16>>(a, threads);
}

void batch_norm_sums(const BatchNormBackward& a, int threads) {
  typed<BatchNormBackward, sums_typed<float>, sums_typed<Bf16>>(a, threads);
}

void batch_norm_input_gradient(const BatchNormBackward& a, int threads) {
  typed<BatchNormBackward, input_gradient_typed<float>, input_gradient_typed<Bf16>>(a, threads);
}

void batch_norm_backward(const BatchNormBackward& a, int threads) {
  typed<BatchNormBackward, batch_norm_backward_typed<float>, batch_norm_backward_typed<Bf16>>(
      a, threads);
}

}  // namespace winnow::train::kernels::WINNOW_ISA

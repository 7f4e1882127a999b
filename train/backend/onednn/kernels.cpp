#include "train/backend/onednn/kernels.h"

#ifdef __AVX512BF16__
#include <immintrin.h>
#endif

// Compiled once for each instruction set, with WINNOW_KERNELS naming the function that returns the
// table. Everything else here has internal linkage and nothing inline of the standard library is
// called: an inline function would be emitted by each compilation, the linker would keep any one of
// them, and a machine without AVX-512 could meet AVX-512 code in a std::min used elsewhere.
//
// A vector is always 16 floats, whatever the registers hold, so that sums have one order
// everywhere.
namespace winnow::train::kernels {
namespace {

using Index = std::int64_t;
using Floats = float __attribute__((vector_size(64)));
using Ints = std::int32_t __attribute__((vector_size(64)));
using Words = std::uint32_t __attribute__((vector_size(64)));
using Halves = std::uint16_t __attribute__((vector_size(32)));
using Bytes = std::uint8_t __attribute__((vector_size(16)));
using Doubles = double __attribute__((vector_size(128)));

using Bf16 = std::uint16_t;

Index least(Index a, Index b) { return a < b ? a : b; }
Index greatest(Index a, Index b) { return a > b ? a : b; }

template <class Vector>
Vector load_vector(const void* from) {
  Vector v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
template <class Vector>
void store_vector(void* to, const Vector& v) {
  __builtin_memcpy(to, &v, sizeof v);
}

Floats load(const float* from) { return load_vector<Floats>(from); }
Floats load(const Bf16* from) {
  return (Floats)(__builtin_convertvector(load_vector<Halves>(from), Words) << 16);
}

// As the instruction does: NaN stays NaN, numbers below the least normal one become zero.
#ifdef __AVX512BF16__
Halves to_bf16(Floats v) { return (Halves)_mm512_cvtneps_pbh((__m512)v); }
#else
Halves to_bf16(Floats v) {
  const Words bits = (Words)v;
  const Words nearest = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const Words zero = (bits >> 16) & 0x8000U;
  const Words quiet = (bits >> 16) | 0x40U;  // rounding could turn a NaN into infinity
  const Words number = (bits & 0x7f800000U) == 0 ? zero : nearest;
  return __builtin_convertvector(v != v ? quiet : number, Halves);
}
#endif

void store(float* to, const Floats& v) { store_vector(to, v); }
void store(Bf16* to, const Floats& v) { store_vector(to, to_bf16(v)); }

// The first `lanes` elements; the others are 0 and not touched.
template <class T>
Floats load(const T* from, int lanes) {
  T whole[kLanes] = {};
  __builtin_memcpy(whole, from, static_cast<std::size_t>(lanes) * sizeof(T));
  return load(whole);
}
template <class T>
void store(T* to, const Floats& v, int lanes) {
  T whole[kLanes];
  store(whole, v);
  __builtin_memcpy(to, whole, static_cast<std::size_t>(lanes) * sizeof(T));
}

// A constant size is a single move, a variable one a call.
Bytes load_bytes(const std::uint8_t* from, int lanes) {
  if (lanes == kLanes) return load_vector<Bytes>(from);
  Bytes bytes = {};
  __builtin_memcpy(&bytes, from, static_cast<std::size_t>(lanes));
  return bytes;
}
void store_bytes(std::uint8_t* to, const Bytes& bytes, int lanes) {
  if (lanes == kLanes) {
    store_vector(to, bytes);
  } else {
    __builtin_memcpy(to, &bytes, static_cast<std::size_t>(lanes));
  }
}

// f(from, lanes) for blocks that cover [0, count): 16 lanes each. What is left over is a block that
// overlaps the one before, or, with fewer than 16 in all, a short one.
template <class Function>
void for_blocks(Index count, Function f) {
  Index i = 0;
  for (; i + kLanes <= count; i += kLanes) f(i, kLanes);
  if (i < count) {
    if (count >= kLanes) {
      f(count - kLanes, kLanes);
    } else {
      f(Index{0}, static_cast<int>(count));
    }
  }
}

template <class T>
Floats load_block(const T* from, int lanes) {
  return lanes == kLanes ? load(from) : load(from, lanes);
}
template <class T>
void store_block(T* to, const Floats& v, int lanes) {
  if (lanes == kLanes) {
    store(to, v);
  } else {
    store(to, v, lanes);
  }
}

Index padded(Index channels) { return (channels + kLanes - 1) / kLanes * kLanes; }

// f(begin, end) over [0, count) in pieces of `grain`.
template <class Function>
void parallel_pieces(Index count, Index grain, int threads, Function f) {
  const Index pieces = (count + grain - 1) / grain;
  if (threads == 1 || pieces == 1) {
    for (Index i = 0; i < pieces; ++i) f(i * grain, least(count, (i + 1) * grain));
    return;
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (Index i = 0; i < pieces; ++i) f(i * grain, least(count, (i + 1) * grain));
}

constexpr Index kGrain = 8192;  // elements: 32 KiB of f32

template <class To, class From>
void convert_typed(const Convert& a, int threads) {
  const auto* from = static_cast<const From*>(a.from);
  auto* to = static_cast<To*>(a.to);
  parallel_pieces(a.count, kGrain, threads, [=](Index begin, Index end) {
    for_blocks(end - begin, [=](Index i, int lanes) {
      store_block(to + begin + i, load_block(from + begin + i, lanes), lanes);
    });
  });
}

void convert(const Convert& a, int threads) {
  if (a.from_type == Element::kF32) {
    a.to_type == Element::kF32 ? convert_typed<float, float>(a, threads)
                               : convert_typed<Bf16, float>(a, threads);
  } else {
    a.to_type == Element::kF32 ? convert_typed<float, Bf16>(a, threads)
                               : convert_typed<Bf16, Bf16>(a, threads);
  }
}

template <class T>
void normalize_typed(const Normalize& a, int threads) {
  auto* y = static_cast<T*>(a.y);
  const Index pattern = a.pattern;
  const Index grain = greatest(1, kGrain / pattern) * pattern;
  parallel_pieces(a.count, grain, threads, [=](Index begin, Index end) {
    for (Index at = begin; at < end; at += pattern) {
      for (Index j = 0; j < pattern; j += kLanes) {
        const Index left = end - at - j;
        if (left <= 0) break;
        const float* factor = a.table + j;
        const float* offset = a.table + pattern + j;
        const int lanes = left < kLanes ? static_cast<int>(left) : kLanes;
        const Bytes bytes = load_bytes(a.pixels + at + j, lanes);
        const Floats pixels = __builtin_convertvector(__builtin_convertvector(bytes, Ints), Floats);
        store_block(y + at + j, pixels * load(factor) + load(offset), lanes);
      }
    }
  });
}

template <class T, class Function>
void elementwise(const Elementwise& e, int threads, Function f) {
  const auto* a = static_cast<const T*>(e.a);
  const auto* b = static_cast<const T*>(e.b == nullptr ? e.a : e.b);
  auto* y = static_cast<T*>(e.y);
  parallel_pieces(e.count, kGrain, threads, [=](Index begin, Index end) {
    for_blocks(end - begin, [=](Index i, int lanes) {
      const Index at = begin + i;
      store_block(y + at, f(load_block(a + at, lanes), load_block(b + at, lanes)), lanes);
    });
  });
}

Floats rectified(Floats v) { return v <= 0 ? Floats{} : v; }  // NaN is not <= 0
Floats where_open(Floats y, Floats dy) { return y > 0 ? dy : Floats{}; }

template <class T>
void relu_typed(const Elementwise& e, int threads) {
  elementwise<T>(e, threads, [](Floats a, Floats) { return rectified(a); });
}
template <class T>
void relu_backward_typed(const Elementwise& e, int threads) {
  elementwise<T>(e, threads, [](Floats y, Floats dy) { return where_open(y, dy); });
}
template <class T>
void add_typed(const Elementwise& e, int threads) {
  elementwise<T>(e, threads, [](Floats a, Floats b) { return a + b; });
}

// ---- Batch norm.
//
// Rows are cut into chunks that fit the first cache and chunks dealt to at most kParts parts. A
// chunk is read twice, for its own mean and for the sums about it, so cancellation is bounded by
// the chunk's own spread; chunks are added up in f64.

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

// Sums lie in padded(channels) places; the last block of channels may overlap the one before it
// (for_channels), but its places do not.
struct Places {
  Index place;    // of a vector of sums
  Index channel;  // the first that no vector before it holds
  int lane;       // where that one is in the vector
  int lanes;      // channels from there on
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

// f<V, kShort>(first channel, place of its sums, lanes) for blocks of V vectors that cover all
// channels: wide ones while there are so many, at last one that overlaps or is short (for_blocks).
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

Doubles wide(const Floats& v) { return __builtin_convertvector(v, Doubles); }
void add_to(double* sums, const Doubles& v) { store_vector(sums, load_vector<Doubles>(sums) + v); }

// One part's sums of one channel block: about `pivot`, the mean of the part's first chunk.
struct Moments {
  double* pivot;
  double* first;   // sum of x - pivot
  double* second;  // sum of (x - pivot)^2
};

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
    const Doubles center = wide(mean[v]);
    if (is_first) store_vector(to.pivot + at, center);
    const Doubles rest = wide(sum[0][v]) - center * count;  // the mean is rounded
    const Doubles d = center - load_vector<Doubles>(to.pivot + at);
    const Doubles first = rest + d * count;
    const Doubles second = wide(squares[0][v]) + d * rest * 2.0 + d * d * count;
    if (is_first) {
      store_vector(to.first + at, first);
      store_vector(to.second + at, second);
    } else {
      add_to(to.first + at, first);
      add_to(to.second + at, second);
    }
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

// Means and biased variances from the moments of all parts.
void finish_moments(const BatchNorm& a, const Partition& p, const double* sums, Places at) {
  const Index width = padded(a.channels);
  const auto get = [=](Index part, Index which) {
    return load_vector<Doubles>(sums + (3 * part + which) * width + at.place);
  };
  const Doubles pivot = get(0, 0);
  Doubles shifted = {};
  for (Index part = 0; part < p.parts; ++part) {
    const auto rows = static_cast<double>(p.end(part) - p.begin(part));
    shifted += get(part, 1) + (get(part, 0) - pivot) * rows;
  }
  const auto total = static_cast<double>(a.rows);
  const Doubles mean = pivot + shifted / total;
  Doubles squares = {};
  for (Index part = 0; part < p.parts; ++part) {
    const auto rows = static_cast<double>(p.end(part) - p.begin(part));
    const Doubles d = get(part, 0) - mean;
    squares += get(part, 2) + d * get(part, 1) * 2.0 + d * d * rows;
  }
  for (int i = 0; i < at.lanes; ++i) {
    const double variance = squares[at.lane + i] / total;
    a.mean[at.channel + i] = static_cast<float>(mean[at.lane + i]);
    a.variance[at.channel + i] = variance < 0 ? 0.0F : static_cast<float>(variance);
  }
}

double inverse_deviation(float variance, double epsilon) {
  return 1.0 / __builtin_sqrt(static_cast<double>(variance) + epsilon);
}

void set_coefficients(const BatchNorm& a) {
  const Index width = padded(a.channels);
  for (Index c = 0; c < width; ++c) {
    const bool real = c < a.channels;
    a.coefficients[c] = real ? a.mean[c] : 0;
    a.coefficients[width + c] =
        real ? static_cast<float>(a.scale[c] * inverse_deviation(a.variance[c], a.epsilon)) : 0;
    a.coefficients[2 * width + c] = real ? a.shift[c] : 0;
  }
}

// What a block of channels is normalized by. The one function that forward and backward share, as
// they must agree on the sign of its result.
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
  const Index channels = a.channels;
  const Index width = padded(channels);
  const float* coefficients = a.coefficients;
  const Index grain = partition(a.rows, channels).chunk_rows;
  parallel_pieces(a.rows, grain, threads, [=](Index begin, Index end) {
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
void batch_norm_inference_typed(const BatchNorm& a, int threads) {
  set_coefficients(a);
  if (a.residual != nullptr) {
    a.relu ? apply_norm<T, true, true>(a, threads) : apply_norm<T, true, false>(a, threads);
  } else {
    a.relu ? apply_norm<T, false, true>(a, threads) : apply_norm<T, false, false>(a, threads);
  }
}

template <class T>
void batch_norm_typed(const BatchNorm& a, int threads) {
  const auto* x = static_cast<const T*>(a.x);
  auto* sums = static_cast<double*>(a.scratch);
  const Partition p = partition(a.rows, a.channels);
  const Index width = padded(a.channels);
  parallel_pieces(p.parts, 1, threads, [=](Index part, Index) {
    part_moments(x, a.channels, p, part, sums + 3 * width * part);
  });
  parallel_places(a.channels, threads, [=](Places at) { finish_moments(a, p, sums, at); });
  batch_norm_inference_typed<T>(a, threads);
}

// How the gradient behind the ReLU is had from dy.
enum class Gate { kNone, kFromY, kFromX };

template <class T>
struct Gradient {
  const T* x;
  const T* dy;
  const T* y;
  T* dresidual;
  const float* coefficients;  // with Gate::kFromX
  Index width;

  // Of vector v of the block that `normalized` is of; `value` is x there.
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

// Adds to sums: of g, and of g * (x - mean). Writes g to dresidual.
template <class T, Gate kGate, bool kKeep, int V, bool kShort>
void chunk_gradient_sums(const Gradient<T>& in, Index channels, Index begin, Index end, Index c,
                         int lanes, double* sum_g, double* sum_gx) {
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
  Index row = begin;
  for (; row + kUnroll <= end; row += kUnroll) {
#pragma GCC unroll 4
    for (int u = 0; u < kUnroll; ++u) {
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) take(row + u, v, g_sum[u][v], gx_sum[u][v]);
    }
  }
  for (; row < end; ++row) {
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
      chunk_gradient_sums<T, kGate, kKeep, V, kShort>(in, channels, begin, end, c, lanes, sums + to,
                                                      sums + width + to);
    });
  }
}

// dx = by_g * g + (x - mean) * by_x + constant.
template <class T, Gate kGate>
void apply_gradient(const BatchNormBackward& a, const Gradient<T>& in, const float* by_g,
                    const float* by_x, const float* constant, int threads) {
  auto* dx = static_cast<T*>(a.dx);
  const Index channels = a.channels;
  const Index grain = partition(a.rows, channels).chunk_rows;
  parallel_pieces(a.rows, grain, threads, [=](Index begin, Index end) {
    for_channels(channels, [=]<int V, bool kShort>(Index c, Index, int lanes) {
      const Normalizer<V> normalized(in.coefficients, in.width, c);
      Floats of_g[V], of_x[V], of_none[V];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        of_g[v] = load(by_g + c + v * kLanes);
        of_x[v] = load(by_x + c + v * kLanes);
        of_none[v] = load(constant + c + v * kLanes);
      }
      for (Index row = begin; row < end; ++row) {
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) {
          const Index element = row * channels + c + v * kLanes;
          const Floats x = load_as<T, kShort>(in.x + element, lanes);
          const Floats g = in.template at<kGate, kShort>(element, normalized, x, v, lanes);
          const Floats value = of_g[v] * g + ((x - normalized.mean[v]) * of_x[v] + of_none[v]);
          store_as<T, kShort>(dx + element, value, lanes);
        }
      }
    });
  });
}

template <class T, Gate kGate, bool kKeep>
void batch_norm_backward_gated(const BatchNormBackward& a, int threads) {
  const Partition p = partition(a.rows, a.channels);
  const Index channels = a.channels;
  const Index width = padded(channels);
  auto* sums = static_cast<double*>(a.scratch);
  auto* by_g = reinterpret_cast<float*>(sums + 3 * kParts * width);
  float* by_x = by_g + width;
  float* constant = by_x + width;
  float* only_mean = constant + width;
  for (Index c = 0; c < 3 * width; ++c) only_mean[c] = c < channels ? a.mean[c] : 0;
  Gradient<T> in{static_cast<const T*>(a.x),
                 static_cast<const T*>(a.dy),
                 static_cast<const T*>(a.y),
                 static_cast<T*>(a.dresidual),
                 kGate == Gate::kFromX ? a.coefficients : only_mean,
                 width};
  parallel_pieces(p.parts, 1, threads, [=](Index part, Index) {
    part_gradient_sums<T, kGate, kKeep>(in, channels, p, part, sums + 2 * width * part);
  });
  const auto rows = static_cast<double>(a.rows);
  parallel_places(channels, threads, [=](Places at) {
    Doubles g = {};
    Doubles gx = {};
    for (Index part = 0; part < p.parts; ++part) {
      g += load_vector<Doubles>(sums + 2 * width * part + at.place);
      gx += load_vector<Doubles>(sums + 2 * width * part + width + at.place);
    }
    for (int i = 0; i < at.lanes; ++i) {
      const Index c = at.channel + i;
      const double inverse = inverse_deviation(a.variance[c], a.epsilon);
      const double factor = a.scale[c] * inverse;
      const double sum_g = g[at.lane + i];
      const double sum_gx = gx[at.lane + i];
      a.dshift[c] = static_cast<float>(sum_g);
      a.dscale[c] = static_cast<float>(sum_gx * inverse);
      by_g[c] = static_cast<float>(factor);
      by_x[c] = static_cast<float>(-factor * inverse * inverse * sum_gx / rows);
      constant[c] = static_cast<float>(-factor * sum_g / rows);
    }
  });
  for (Index c = channels; c < width; ++c) by_g[c] = by_x[c] = constant[c] = 0;
  if constexpr (kKeep) {
    in.dy = in.dresidual;  // already gated
    apply_gradient<T, Gate::kNone>(a, in, by_g, by_x, constant, threads);
  } else {
    apply_gradient<T, kGate>(a, in, by_g, by_x, constant, threads);
  }
}

template <class T>
void batch_norm_backward_typed(const BatchNormBackward& a, int threads) {
  if (a.y != nullptr && a.dresidual != nullptr) {
    batch_norm_backward_gated<T, Gate::kFromY, true>(a, threads);
  } else if (a.y != nullptr) {
    batch_norm_backward_gated<T, Gate::kFromY, false>(a, threads);
  } else if (a.coefficients != nullptr) {
    batch_norm_backward_gated<T, Gate::kFromX, false>(a, threads);
  } else {
    batch_norm_backward_gated<T, Gate::kNone, false>(a, threads);
  }
}

// ---- Pooling.

// f(image, row, first channel, lanes) for every image and row of `height`.
template <class Function>
void for_image_rows(Index batch, Index height, int threads, Function f) {
  parallel_pieces(batch * height, 1, threads, [=](Index i, Index) { f(i / height, i % height); });
}

struct Range {
  Index begin, end;
};
// Elements of the window at `out`, clipped to the data.
Range covered(Index out, int kernel, int stride, int pad, Index size) {
  const Index begin = out * stride - pad;
  return {greatest(begin, 0), least(begin + kernel, size)};
}
// Windows that hold element `in`.
Range covering(Index in, int kernel, int stride, int pad, Index outs) {
  const int at = static_cast<int>(in) + pad;  // 32 bits divide much faster
  const int past = at - kernel + 1;           // a window may not begin before it
  return {past <= 0 ? 0 : (past + stride - 1) / stride, least(outs, at / stride + 1)};
}

template <class T>
void max_pool_typed(const Pool& a, int threads) {
  const auto* x = static_cast<const T*>(a.from);
  auto* y = static_cast<T*>(a.to);
  for_image_rows(a.batch, a.out_height, threads, [=](Index n, Index p) {
    const Range hs = covered(p, a.kernel_h, a.stride, a.pad, a.height);
    for (Index q = 0; q < a.out_width; ++q) {
      const Range ws = covered(q, a.kernel_w, a.stride, a.pad, a.width);
      const Index to = ((n * a.out_height + p) * a.out_width + q) * a.channels;
      for_blocks(a.channels, [=](Index c, int lanes) {
        Floats best = {};
        Ints place = {};
        bool none = true;
        for (Index h = hs.begin; h < hs.end; ++h) {
          for (Index w = ws.begin; w < ws.end; ++w) {
            const Index from = ((n * a.height + h) * a.width + w) * a.channels + c;
            const auto here = static_cast<std::int32_t>((h - (p * a.stride - a.pad)) * a.kernel_w +
                                                        w - (q * a.stride - a.pad));
            const Floats v = load_block(x + from, lanes);
            if (none) {
              best = v;
              place = Ints{} + here;
              none = false;
              continue;
            }
            // A NaN wins, the first of them, so that it reaches the loss.
            const Ints wins = (v > best) | ((v != v) & (best == best));
            best = wins ? v : best;
            place = wins ? Ints{} + here : place;
          }
        }
        store_block(y + to + c, best, lanes);
        store_bytes(a.index + to + c, __builtin_convertvector(place, Bytes), lanes);
      });
    }
  });
}

// Windows that do not overlap deal their gradient out, each to one element.
template <class T>
void max_pool_backward_apart(const Pool& a, int threads) {
  const auto* dy = static_cast<const T*>(a.from);
  auto* dx = static_cast<T*>(a.to);
  for_image_rows(a.batch, a.out_height, threads, [=](Index n, Index p) {
    const Range hs = covered(p, a.kernel_h, a.stride, a.pad, a.height);
    // The rows down to the next windows are this one's, with those that no window covers.
    const Index top = p == 0 ? 0 : hs.begin;
    const Index bottom = p + 1 < a.out_height ? (p + 1) * a.stride - a.pad : a.height;
    const Index row = a.width * a.channels;
    __builtin_memset(dx + (n * a.height + top) * row, 0,
                     static_cast<std::size_t>((bottom - top) * row) * sizeof(T));
    for (Index q = 0; q < a.out_width; ++q) {
      const Range ws = covered(q, a.kernel_w, a.stride, a.pad, a.width);
      const Index from = ((n * a.out_height + p) * a.out_width + q) * a.channels;
      for_blocks(a.channels, [=](Index c, int lanes) {
        const Ints place = __builtin_convertvector(load_bytes(a.index + from + c, lanes), Ints);
        const Floats g = load_block(dy + from + c, lanes);
        for (Index h = hs.begin; h < hs.end; ++h) {
          for (Index w = ws.begin; w < ws.end; ++w) {
            const auto here = static_cast<std::int32_t>((h - (p * a.stride - a.pad)) * a.kernel_w +
                                                        w - (q * a.stride - a.pad));
            store_block(dx + ((n * a.height + h) * a.width + w) * a.channels + c,
                        place == here ? g : Floats{}, lanes);
          }
        }
      });
    }
  });
}

// Elements gather from all windows that hold them.
template <class T>
void max_pool_backward_overlapping(const Pool& a, int threads) {
  const auto* dy = static_cast<const T*>(a.from);
  auto* dx = static_cast<T*>(a.to);
  for_image_rows(a.batch, a.height, threads, [=](Index n, Index h) {
    const Range ps = covering(h, a.kernel_h, a.stride, a.pad, a.out_height);
    for (Index w = 0; w < a.width; ++w) {
      const Range qs = covering(w, a.kernel_w, a.stride, a.pad, a.out_width);
      const Index to = ((n * a.height + h) * a.width + w) * a.channels;
      for_blocks(a.channels, [=](Index c, int lanes) {
        Floats sum = {};
        for (Index p = ps.begin; p < ps.end; ++p) {
          for (Index q = qs.begin; q < qs.end; ++q) {
            const Index from = ((n * a.out_height + p) * a.out_width + q) * a.channels + c;
            const auto here = static_cast<std::int32_t>((h - (p * a.stride - a.pad)) * a.kernel_w +
                                                        w - (q * a.stride - a.pad));
            const Ints place = __builtin_convertvector(load_bytes(a.index + from, lanes), Ints);
            sum += place == here ? load_block(dy + from, lanes) : Floats{};
          }
        }
        store_block(dx + to + c, sum, lanes);
      });
    }
  });
}

template <class T>
void max_pool_backward_typed(const Pool& a, int threads) {
  if (a.stride >= a.kernel_h && a.stride >= a.kernel_w) {
    max_pool_backward_apart<T>(a, threads);
  } else {
    max_pool_backward_overlapping<T>(a, threads);
  }
}

template <class T>
void avg_pool_typed(const Pool& a, int threads) {
  const auto* x = static_cast<const T*>(a.from);
  auto* y = static_cast<T*>(a.to);
  const auto size = static_cast<float>(a.kernel_h * a.kernel_w);
  for_image_rows(a.batch, a.out_height, threads, [=](Index n, Index p) {
    const Range hs = covered(p, a.kernel_h, a.stride, a.pad, a.height);
    for (Index q = 0; q < a.out_width; ++q) {
      const Range ws = covered(q, a.kernel_w, a.stride, a.pad, a.width);
      const Index to = ((n * a.out_height + p) * a.out_width + q) * a.channels;
      for_blocks(a.channels, [=](Index c, int lanes) {
        Floats sum = {};
        for (Index h = hs.begin; h < hs.end; ++h) {
          for (Index w = ws.begin; w < ws.end; ++w) {
            sum += load_block(x + ((n * a.height + h) * a.width + w) * a.channels + c, lanes);
          }
        }
        store_block(y + to + c, sum / size, lanes);
      });
    }
  });
}

template <class T>
void avg_pool_backward_typed(const Pool& a, int threads) {
  const auto* dy = static_cast<const T*>(a.from);
  auto* dx = static_cast<T*>(a.to);
  const auto size = static_cast<float>(a.kernel_h * a.kernel_w);
  for_image_rows(a.batch, a.height, threads, [=](Index n, Index h) {
    const Range ps = covering(h, a.kernel_h, a.stride, a.pad, a.out_height);
    for (Index w = 0; w < a.width; ++w) {
      const Range qs = covering(w, a.kernel_w, a.stride, a.pad, a.out_width);
      const Index to = ((n * a.height + h) * a.width + w) * a.channels;
      for_blocks(a.channels, [=](Index c, int lanes) {
        Floats sum = {};
        for (Index p = ps.begin; p < ps.end; ++p) {
          for (Index q = qs.begin; q < qs.end; ++q) {
            const Index from = ((n * a.out_height + p) * a.out_width + q) * a.channels + c;
            sum += load_block(dy + from, lanes);
          }
        }
        store_block(dx + to + c, sum / size, lanes);
      });
    }
  });
}

// ---- Loss. Small beside the net, so plain loops in f64.

double element(const float* from) { return static_cast<double>(*from); }
double element(const Bf16* from) {
  const std::uint32_t bits = static_cast<std::uint32_t>(*from) << 16;
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return static_cast<double>(value);
}

struct Softmax {
  double greatest;
  double log_sum;  // of exp(logit - greatest)
};
template <class T>
Softmax softmax(const T* logits, Index classes) {
  double top = element(logits);
  for (Index k = 1; k < classes; ++k) {
    const double v = element(logits + k);
    if (v > top) top = v;
  }
  double sum = 0;
  for (Index k = 0; k < classes; ++k) sum += __builtin_exp(element(logits + k) - top);
  return {top, __builtin_log(sum)};
}

double total(const float* targets, Index classes) {
  double sum = 0;
  for (Index k = 0; k < classes; ++k) sum += static_cast<double>(targets[k]);
  return sum;
}

template <class T>
void loss_typed(const Loss& a, int threads) {
  const auto* logits = static_cast<const T*>(a.logits);
  parallel_pieces(a.batch, 8, threads, [=](Index begin, Index end) {
    for (Index n = begin; n < end; ++n) {
      const T* row = logits + n * a.classes;
      const float* targets = a.targets + n * a.classes;
      const Softmax s = softmax(row, a.classes);
      const double even = a.smoothing / static_cast<double>(a.classes) * total(targets, a.classes);
      double sum = 0;
      for (Index k = 0; k < a.classes; ++k) {
        const double t = (1 - a.smoothing) * static_cast<double>(targets[k]) + even;
        sum -= t * (element(row + k) - s.greatest - s.log_sum);
      }
      a.per_sample[n] = static_cast<float>(sum);
    }
  });
  double loss = 0;
  for (Index n = 0; n < a.batch; ++n) {
    loss += static_cast<double>(a.weights[n]) * static_cast<double>(a.per_sample[n]);
  }
  *a.loss = static_cast<float>(loss);
}

template <class T>
void loss_backward_typed(const Loss& a, int threads) {
  const auto* logits = static_cast<const T*>(a.logits);
  auto* dlogits = static_cast<T*>(a.dlogits);
  parallel_pieces(a.batch, 8, threads, [=](Index begin, Index end) {
    for (Index n = begin; n < end; ++n) {
      const T* row = logits + n * a.classes;
      const float* targets = a.targets + n * a.classes;
      const Softmax s = softmax(row, a.classes);
      const double sum = total(targets, a.classes);
      const double even = a.smoothing / static_cast<double>(a.classes) * sum;
      const auto weight = static_cast<double>(a.weights[n]);
      for (Index k = 0; k < a.classes; k += kLanes) {
        const int lanes = static_cast<int>(least(kLanes, a.classes - k));
        Floats v = {};
        for (int i = 0; i < lanes; ++i) {
          const double t = (1 - a.smoothing) * static_cast<double>(targets[k + i]) + even;
          const double share = __builtin_exp(element(row + k + i) - s.greatest - s.log_sum);
          v[i] = static_cast<float>(weight * (share * sum - t));
        }
        store_block(dlogits + n * a.classes + k, v, lanes);
      }
    }
  });
}

// ---- The table.

template <class Arguments, void (*kF32)(const Arguments&, int),
          void (*kBf16)(const Arguments&, int)>
void typed(const Arguments& a, int threads) {
  a.type == Element::kF32 ? kF32(a, threads) : kBf16(a, threads);
}

constexpr Table kTable = {
    WINNOW_KERNELS_NAME,
    convert,
    typed<Normalize, normalize_typed<float>, normalize_typed<Bf16>>,
    typed<BatchNorm, batch_norm_typed<float>, batch_norm_typed<Bf16>>,
    typed<BatchNorm, batch_norm_inference_typed<float>, batch_norm_inference_typed<Bf16>>,
    typed<BatchNormBackward, batch_norm_backward_typed<float>, batch_norm_backward_typed<Bf16>>,
    typed<Elementwise, relu_typed<float>, relu_typed<Bf16>>,
    typed<Elementwise, relu_backward_typed<float>, relu_backward_typed<Bf16>>,
    typed<Elementwise, add_typed<float>, add_typed<Bf16>>,
    typed<Pool, max_pool_typed<float>, max_pool_typed<Bf16>>,
    typed<Pool, max_pool_backward_typed<float>, max_pool_backward_typed<Bf16>>,
    typed<Pool, avg_pool_typed<float>, avg_pool_typed<Bf16>>,
    typed<Pool, avg_pool_backward_typed<float>, avg_pool_backward_typed<Bf16>>,
    typed<Loss, loss_typed<float>, loss_typed<Bf16>>,
    typed<Loss, loss_backward_typed<float>, loss_backward_typed<Bf16>>,
};

}  // namespace

const Table& WINNOW_KERNELS() noexcept { return kTable; }

}  // namespace winnow::train::kernels

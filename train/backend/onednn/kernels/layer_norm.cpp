#include "train/backend/onednn/kernels/base_internal.h"
#include "train/backend/onednn/kernels/functions_internal.h"
#include "train/backend/onednn/kernels/layer_norm_internal.h"

// Group norm of samples with one pixel and one group: rows of channels, each on one thread. Sums
// over rows are in f64, in parts that depend only on the number of rows, so the bits are the same
// for any number of threads.
namespace winnow::train::kernels::WINNOW_ISA {
namespace {

double total(const Doubles& v) {
  double sum = 0;
  for (int i = 0; i < kLanes; ++i) sum += v[i];
  return sum;
}

template <class T>
Floats load_some(const T* from, int lanes) {
  return lanes == kLanes ? load(from) : load(from, lanes);
}

// Calls f(from, lanes) for blocks that cover [0, count) without overlap; the last may be short.
template <class Function>
void for_parts(Index count, Function f) {
  for (Index i = 0; i < count; i += kLanes) f(i, static_cast<int>(least(kLanes, count - i)));
}

// Sets the lanes from `lanes` on to 0.
Floats first_of(const Floats& v, int lanes) {
  Floats kept = {};
  for (int i = 0; i < lanes; ++i) kept[i] = v[i];
  return kept;
}

template <class T>
void layer_norm_row(const GroupNorm& a, Index row) {
  const Index channels = a.layer.channels;
  const auto count = static_cast<double>(channels);
  const T* x = static_cast<const T*>(a.x) + row * channels;
  T* y = static_cast<T*>(a.y) + row * channels;
  Doubles sum = {};
  for_parts(channels, [&](Index c, int lanes) { sum += wide(load_some(x + c, lanes)); });
  const auto mean = static_cast<float>(total(sum) / count);
  Doubles squares = {};
  for_parts(channels, [&](Index c, int lanes) {
    const Doubles d = wide(first_of(load_some(x + c, lanes) - mean, lanes));
    squares += d * d;
  });
  const auto variance = static_cast<float>(total(squares) / count);
  a.statistics.mean[row] = mean;
  a.statistics.variance[row] = variance;
  const auto inverse =
      static_cast<float>(1 / __builtin_sqrt(static_cast<double>(variance) + a.layer.epsilon));
  for_blocks(channels, [&](Index c, int lanes) {
    const Floats normal = (load_block(x + c, lanes) - mean) * inverse;
    store_block(y + c, normal * load_block(a.scale + c, lanes) + load_block(a.shift + c, lanes),
                lanes);
  });
}

template <class T>
void layer_norm_typed(const GroupNorm& a, int threads) {
  parallel_pieces(a.layer.batch, greatest(1, kGrain / a.layer.channels), threads,
                  [=](Index begin, Index end) {
                    for (Index row = begin; row < end; ++row) layer_norm_row<T>(a, row);
                  });
}

// Adds the row's contribution to dscale and dshift to `sums`: padded(channels) numbers for each.
template <class T>
void backward_row(const GroupNormBackward& a, Index row, double* sums) {
  const Index channels = a.layer.channels;
  const Index places = padded(channels);
  const T* x = static_cast<const T*>(a.x) + row * channels;
  const T* dy = static_cast<const T*>(a.dy) + row * channels;
  T* dx = static_cast<T*>(a.gradients.dx) + row * channels;
  const float mean = a.statistics.mean[row];
  const auto inverse = static_cast<float>(
      1 / __builtin_sqrt(static_cast<double>(a.statistics.variance[row]) + a.layer.epsilon));
  Doubles of_g = {};
  Doubles of_g_normal = {};
  for_parts(channels, [&](Index c, int lanes) {
    const Floats out = load_some(dy + c, lanes);
    const Floats normal = first_of((load_some(x + c, lanes) - mean) * inverse, lanes);
    const Floats g = out * load_some(a.scale + c, lanes);
    of_g += wide(g);
    of_g_normal += wide(g) * wide(normal);
    store_vector(sums + c, load_vector<Doubles>(sums + c) + wide(out) * wide(normal));
    store_vector(sums + places + c, load_vector<Doubles>(sums + places + c) + wide(out));
  });
  const auto mean_g = static_cast<float>(total(of_g) / static_cast<double>(channels));
  const auto mean_g_normal = static_cast<float>(total(of_g_normal) / static_cast<double>(channels));
  for_blocks(channels, [&](Index c, int lanes) {
    const Floats normal = (load_block(x + c, lanes) - mean) * inverse;
    const Floats g = load_block(dy + c, lanes) * load_block(a.scale + c, lanes);
    store_block(dx + c, (g - mean_g - normal * mean_g_normal) * inverse, lanes);
  });
}

template <class T>
void layer_norm_backward_typed(const GroupNormBackward& a, int threads) {
  const Index channels = a.layer.channels;
  const Index places = padded(channels);
  const Index each = (a.layer.batch + kParts - 1) / kParts;
  auto* sums = static_cast<double*>(a.scratch);
  parallel_pieces(a.layer.batch, each, threads, [=](Index begin, Index end) {
    double* part = sums + begin / each * 2 * places;
    for (Index i = 0; i < 2 * places; ++i) part[i] = 0;
    for (Index row = begin; row < end; ++row) backward_row<T>(a, row, part);
  });
  for (Index c = 0; c < channels; ++c) {
    double dscale = 0;
    double dshift = 0;
    for (Index part = 0; part * each < a.layer.batch; ++part) {
      dscale += sums[part * 2 * places + c];
      dshift += sums[part * 2 * places + places + c];
    }
    a.gradients.dscale[c] = static_cast<float>(dscale);
    a.gradients.dshift[c] = static_cast<float>(dshift);
  }
}

}  // namespace

void layer_norm(const GroupNorm& a, int threads) {
  typed<GroupNorm, layer_norm_typed<float>, layer_norm_typed<Bf16>>(a, threads);
}

void layer_norm_backward(const GroupNormBackward& a, int threads) {
  typed<GroupNormBackward, layer_norm_backward_typed<float>, layer_norm_backward_typed<Bf16>>(
      a, threads);
}

}  // namespace winnow::train::kernels::WINNOW_ISA

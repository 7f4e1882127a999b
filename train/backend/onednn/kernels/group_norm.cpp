#include "train/backend/onednn/kernels/base_internal.h"
#include "train/backend/onednn/kernels/functions_internal.h"
#include "train/backend/onednn/kernels/group_norm_internal.h"

// One thread processes a whole sample, which stays in its cache, so the bits are the same for any
// number of threads. Sums are in f64.
namespace winnow::train::kernels::WINNOW_ISA {
namespace {

// For one sample, padded(channels) numbers each.
struct Scratch {
  double* first;
  double* second;
  float* mean;
  float* factor;
  float* by_x;
  float* constant;
};

Scratch scratch_of(void* memory, Index sample, Index channels) {
  const Index places = padded(channels);
  auto* bytes = static_cast<char*>(memory) + sample * group_norm_scratch_bytes(1, channels);
  auto* sums = reinterpret_cast<double*>(bytes);
  auto* numbers = reinterpret_cast<float*>(sums + 2 * places);
  return {
      sums, sums + places, numbers, numbers + places, numbers + 2 * places, numbers + 3 * places};
}

// Sums over the pixels: to.first and to.second become the sums of what terms(element, channel,
// lanes, first, second) adds.
template <class Terms>
void sum_channels(const GroupNormLayer& layer, const Scratch& to, Terms terms) {
  for_blocks(layer.channels, [&](Index c, int lanes) {
    Doubles first = {};
    Doubles second = {};
    for (Index p = 0; p < layer.pixels; ++p) terms(p * layer.channels + c, c, lanes, first, second);
    store_vector(to.first + c, first);
    store_vector(to.second + c, second);
  });
}

// Calls f(group, first channel, last channel) for the groups of one sample.
template <class Function>
void for_groups(const GroupNormLayer& layer, Function f) {
  const Index size = layer.channels / layer.groups;
  for (Index g = 0; g < layer.groups; ++g) f(g, g * size, (g + 1) * size);
}

double elements_of_group(const GroupNormLayer& layer) {
  return static_cast<double>(layer.pixels * (layer.channels / layer.groups));
}

double total(const double* sums, Index begin, Index end) {
  double sum = 0;
  for (Index c = begin; c < end; ++c) sum += sums[c];
  return sum;
}

template <class T>
void add_moments(const GroupNormLayer& layer, const T* x, const Scratch& s) {
  sum_channels(layer, s, [=](Index at, Index c, int lanes, Doubles& first, Doubles& second) {
    const Doubles d = wide(load_block(x + at, lanes) - load(s.mean + c));
    first += d;
    second += d * d;
  });
}

// Mean and variance of sample `n`, by sums around an approximate mean.
template <class T>
void find_statistics(const GroupNorm& a, Index n, const T* x, const Scratch& s) {
  const GroupNormLayer& layer = a.layer;
  const double count = elements_of_group(layer);
  for (Index c = 0; c < padded(layer.channels); ++c) s.mean[c] = 0;
  add_moments(layer, x, s);
  for_groups(layer, [&](Index, Index begin, Index end) {
    const auto near = static_cast<float>(total(s.first, begin, end) / count);
    for (Index c = begin; c < end; ++c) s.mean[c] = near;
  });
  add_moments(layer, x, s);
  for_groups(layer, [&](Index g, Index begin, Index end) {
    const double off = total(s.first, begin, end) / count;
    const double variance = total(s.second, begin, end) / count - off * off;
    const auto mean = static_cast<float>(static_cast<double>(s.mean[begin]) + off);
    a.statistics.mean[n * layer.groups + g] = mean;
    a.statistics.variance[n * layer.groups + g] = variance > 0 ? static_cast<float>(variance) : 0;
  });
}

float inverse_of(const GroupNormLayer& layer, float variance) {
  return static_cast<float>(1 / __builtin_sqrt(static_cast<double>(variance) + layer.epsilon));
}

template <class T>
void group_norm_typed(const GroupNorm& a, int threads) {
  const GroupNormLayer layer = a.layer;
  parallel_pieces(layer.batch, 1, threads, [=](Index n, Index) {
    const Index from = n * layer.pixels * layer.channels;
    const T* x = static_cast<const T*>(a.x) + from;
    T* y = static_cast<T*>(a.y) + from;
    const Scratch s = scratch_of(a.scratch, n, layer.channels);
    find_statistics(a, n, x, s);
    for_groups(layer, [&](Index g, Index begin, Index end) {
      const Index at = n * layer.groups + g;
      const float inverse = inverse_of(layer, a.statistics.variance[at]);
      for (Index c = begin; c < end; ++c) {
        s.mean[c] = a.statistics.mean[at];
        s.factor[c] = a.scale[c] * inverse;
        s.constant[c] = a.shift[c];
      }
    });
    for (Index p = 0; p < layer.pixels; ++p) {
      for_blocks(layer.channels, [=](Index c, int lanes) {
        const Index at = p * layer.channels + c;
        const Floats v = load_block(x + at, lanes) - load(s.mean + c);
        store_block(y + at, v * load(s.factor + c) + load(s.constant + c), lanes);
      });
    }
  });
}

// dx = inverse * (scale * dy - mean(scale * dy) - normal * mean(scale * dy * normal)), with means
// over a group.
template <class T>
void group_norm_backward_sample(const GroupNormBackward& a, Index n) {
  const GroupNormLayer& layer = a.layer;
  const Index from = n * layer.pixels * layer.channels;
  const T* x = static_cast<const T*>(a.x) + from;
  const T* dy = static_cast<const T*>(a.dy) + from;
  T* dx = static_cast<T*>(a.gradients.dx) + from;
  const Scratch s = scratch_of(a.scratch, n, layer.channels);
  for_groups(layer, [&](Index g, Index begin, Index end) {
    for (Index c = begin; c < end; ++c) s.mean[c] = a.statistics.mean[n * layer.groups + g];
  });
  sum_channels(layer, s, [=](Index at, Index c, int lanes, Doubles& first, Doubles& second) {
    const Doubles g = wide(load_block(dy + at, lanes));
    first += g;
    second += g * wide(load_block(x + at, lanes) - load(s.mean + c));
  });
  for_groups(layer, [&](Index g, Index begin, Index end) {
    const float inverse = inverse_of(layer, a.statistics.variance[n * layer.groups + g]);
    double mean_g = 0;
    double mean_g_normal = 0;
    for (Index c = begin; c < end; ++c) {
      s.second[c] *= static_cast<double>(inverse);  // the sample's contribution to dscale
      mean_g += static_cast<double>(a.scale[c]) * s.first[c] / elements_of_group(layer);
      mean_g_normal += static_cast<double>(a.scale[c]) * s.second[c] / elements_of_group(layer);
    }
    for (Index c = begin; c < end; ++c) {
      s.factor[c] = a.scale[c] * inverse;
      s.by_x[c] = static_cast<float>(mean_g_normal) * inverse * inverse;
      s.constant[c] = static_cast<float>(mean_g) * inverse;
    }
  });
  for (Index p = 0; p < layer.pixels; ++p) {
    for_blocks(layer.channels, [=](Index c, int lanes) {
      const Index at = p * layer.channels + c;
      const Floats v = load_block(x + at, lanes) - load(s.mean + c);
      const Floats g = load_block(dy + at, lanes) * load(s.factor + c);
      store_block(dx + at, g - load(s.constant + c) - v * load(s.by_x + c), lanes);
    });
  }
}

template <class T>
void group_norm_backward_typed(const GroupNormBackward& a, int threads) {
  const GroupNormLayer layer = a.layer;
  parallel_pieces(layer.batch, 1, threads,
                  [=](Index n, Index) { group_norm_backward_sample<T>(a, n); });
  for (Index c = 0; c < layer.channels; ++c) {
    double dscale = 0;
    double dshift = 0;
    for (Index n = 0; n < layer.batch; ++n) {
      const Scratch s = scratch_of(a.scratch, n, layer.channels);
      dscale += s.second[c];
      dshift += s.first[c];
    }
    a.gradients.dscale[c] = static_cast<float>(dscale);
    a.gradients.dshift[c] = static_cast<float>(dshift);
  }
}

}  // namespace

void group_norm(const GroupNorm& a, int threads) {
  typed<GroupNorm, group_norm_typed<float>, group_norm_typed<Bf16>>(a, threads);
}

void group_norm_backward(const GroupNormBackward& a, int threads) {
  typed<GroupNormBackward, group_norm_backward_typed<float>, group_norm_backward_typed<Bf16>>(
      a, threads);
}

}  // namespace winnow::train::kernels::WINNOW_ISA

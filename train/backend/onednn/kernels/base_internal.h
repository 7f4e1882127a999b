#pragma once

#include "train/backend/onednn/kernels.h"

#ifdef __AVX512BF16__
#include <immintrin.h>
#endif

// Building blocks of kernels.
//
// Compilations  Each source here is compiled once for each instruction set, with WINNOW_ISA naming
//               the namespace of its functions. Everything else has internal linkage.
// No std::      Inline functions of the standard library are not called. Each compilation would
//               emit them and the linker would keep any one of them, so a machine without AVX-512
//               could run AVX-512 code in a std::min used elsewhere.
// Vectors       Always 16 floats, for any register size, so that sums have the same order
//               everywhere.
namespace winnow::train::kernels::WINNOW_ISA {
namespace {

using Index = std::int64_t;
using Floats = float __attribute__((vector_size(64)));
using Ints = std::int32_t __attribute__((vector_size(64)));
using Words = std::uint32_t __attribute__((vector_size(64)));
using Halves = std::uint16_t __attribute__((vector_size(32)));
using Bytes = std::uint8_t __attribute__((vector_size(16)));
using Doubles = double __attribute__((vector_size(128)));

using Bf16 = std::uint16_t;

inline Index least(Index a, Index b) { return a < b ? a : b; }
inline Index greatest(Index a, Index b) { return a > b ? a : b; }

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

inline Doubles wide(const Floats& v) { return __builtin_convertvector(v, Doubles); }

inline Floats load(const float* from) { return load_vector<Floats>(from); }
inline Floats load(const Bf16* from) {
  return (Floats)(__builtin_convertvector(load_vector<Halves>(from), Words) << 16);
}

// As the AVX-512 instruction does: NaN stays NaN, and denormal numbers become zero.
#ifdef __AVX512BF16__
inline Halves to_bf16(Floats v) { return (Halves)_mm512_cvtneps_pbh((__m512)v); }
#else
inline Halves to_bf16(Floats v) {
  const Words bits = (Words)v;
  const Words nearest = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const Words zero = (bits >> 16) & 0x8000U;
  const Words quiet = (bits >> 16) | 0x40U;  // rounding could turn a NaN into infinity
  const Words number = (bits & 0x7f800000U) == 0 ? zero : nearest;
  return __builtin_convertvector(v != v ? quiet : number, Halves);
}
#endif

inline void store(float* to, const Floats& v) { store_vector(to, v); }
inline void store(Bf16* to, const Floats& v) { store_vector(to, to_bf16(v)); }

// Loads the first `lanes` elements. The others become 0 and are not read.
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

// A copy of constant size is a single move, one of variable size a function call.
inline Bytes load_bytes(const std::uint8_t* from, int lanes) {
  if (lanes == kLanes) return load_vector<Bytes>(from);
  Bytes bytes = {};
  __builtin_memcpy(&bytes, from, static_cast<std::size_t>(lanes));
  return bytes;
}
inline void store_bytes(std::uint8_t* to, const Bytes& bytes, int lanes) {
  if (lanes == kLanes) {
    store_vector(to, bytes);
  } else {
    __builtin_memcpy(to, &bytes, static_cast<std::size_t>(lanes));
  }
}

// Calls f(from, lanes) for blocks of 16 lanes that cover [0, count). The last block overlaps the
// one before it if needed; with fewer than 16 elements in all, it is short.
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

inline Index padded(Index channels) { return (channels + kLanes - 1) / kLanes * kLanes; }

// Calls f(begin, end) for pieces of `grain` that cover [0, count).
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

constexpr Index kGrain = 8192;  // elements; 32 KiB of f32

inline Floats rectified(Floats v) { return v <= 0 ? Floats{} : v; }  // NaN is not <= 0
inline Floats where_open(Floats y, Floats dy) { return y > 0 ? dy : Floats{}; }

// Dispatches to kF32 or kBf16, by the type of activations.
template <class Arguments, void (*kF32)(const Arguments&, int),
          void (*kBf16)(const Arguments&, int)>
void typed(const Arguments& a, int threads) {
  Element type = Element::kF32;
  if constexpr (requires { a.type; }) {
    type = a.type;
  } else {
    type = a.layer.type;
  }
  type == Element::kF32 ? kF32(a, threads) : kBf16(a, threads);
}

}  // namespace
}  // namespace winnow::train::kernels::WINNOW_ISA

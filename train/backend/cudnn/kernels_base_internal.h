#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "train/backend/cudnn/kernels.h"
#include "train/tensor/device_function.h"
#include "train/tensor/f16.h"

// Building blocks of our own GPU kernels. A kernel is a trivially copyable struct that holds its
// arguments:
//
// kName                      Its name, for users.
// kPhases                    Number of phases, which all threads of a block run one after the
//                            other.
// Shared                     Memory of a block, uninitialised. Values written in one phase may be
//                            read in the next. Threads communicate in no other way.
// shape()                    Number of blocks, depending only on its arguments.
// run<phase>(place, shared)  The work of one thread in one phase.
//
// Kernels do not depend on the launcher: nvcc compiles the same code for the GPU that the host
// compiler compiles for tests.

namespace winnow::train::cudnn::kernels {

using Index = std::int64_t;

inline constexpr int kThreadsShift = 8;
inline constexpr int kThreads = 1 << kThreadsShift;  // number of threads in every block
inline constexpr Index kMaxBlocks = 2147483647;      // largest number of blocks in one launch

// Number of blocks and of threads in a block. Any number of blocks is allowed; launchers split it
// into several launches.
struct LaunchShape {
  Index blocks = 1;
  int threads = kThreads;
};
// Number of blocks in the launch that starts at block `first`, with at most `most` blocks.
constexpr Index launch_blocks(const LaunchShape& shape, Index first, Index most) noexcept {
  return shape.blocks - first < most ? shape.blocks - first : most;
}

struct Place {
  Index block = 0;
  int thread = 0;
};

struct NoShared {};

WINNOW_DEVICE_FN constexpr Index least(Index a, Index b) { return a < b ? a : b; }
WINNOW_DEVICE_FN constexpr Index greatest(Index a, Index b) { return a > b ? a : b; }
WINNOW_DEVICE_FN constexpr Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }

// Divides numbers >= 0. Uses 32 bits where possible, because 64-bit division is slow on GPUs.
WINNOW_DEVICE_FN Index divide(Index a, Index b) {
  if (((a | b) >> 32) != 0) return a / b;
  return static_cast<Index>(static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b));
}

struct QuotientRest {
  Index quotient, rest;
};
WINNOW_DEVICE_FN QuotientRest split(Index a, Index b) {
  const Index quotient = divide(a, b);
  return {quotient, a - quotient * b};
}

// ---- Element types and their conversion to and from float.

struct Bf16 {
  std::uint16_t bits;
};
struct F16 {
  std::uint16_t bits;
};

WINNOW_DEVICE_FN float as_float(float v) { return v; }
WINNOW_DEVICE_FN float as_float(Bf16 v) {
  const std::uint32_t bits = static_cast<std::uint32_t>(v.bits) << 16;
  float result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}
WINNOW_DEVICE_FN float as_float(F16 v) { return f32_of_f16(v.bits); }

template <class T>
WINNOW_DEVICE_FN T element(float v) {
  if constexpr (std::is_same_v<T, float>) {
    return v;
  } else if constexpr (std::is_same_v<T, F16>) {
    return T{f16_of(v)};
  } else {
    std::uint32_t bits;
    std::memcpy(&bits, &v, sizeof bits);
    const std::uint32_t nearest = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
    // Sets the quiet bit, because rounding could turn a NaN into infinity.
    const std::uint32_t quiet = (bits >> 16) | 0x40U;
    return T{static_cast<std::uint16_t>(v != v ? quiet : nearest)};
  }
}

// N adjacent elements, which are loaded or stored at once.
template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
  T at[N];
};
template <class T>
inline constexpr int kPack = static_cast<int>(16 / sizeof(T));

// Stores a pack by one instruction. nvcc compiles a plain assignment to one store for each element
// in most kernels.
template <class T, int N>
WINNOW_DEVICE_FN void move(T* to, const Pack<T, N>& pack) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof pack == 16) {
    std::uint32_t words[4];
    std::memcpy(words, &pack, sizeof words);
    asm volatile("st.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(words[0]), "r"(words[1]),
                 "r"(words[2]), "r"(words[3])
                 : "memory");
    return;
  }
#endif
  *reinterpret_cast<Pack<T, N>*>(to) = pack;
}

template <int N>
struct Floats {
  float at[N];
};
template <int N, class T>
WINNOW_DEVICE_FN Floats<N> load(const T* from) {
  const Pack<T, N> pack = *reinterpret_cast<const Pack<T, N>*>(from);
  Floats<N> v;
  for (int i = 0; i < N; ++i) v.at[i] = as_float(pack.at[i]);
  return v;
}
template <int N, class T>
WINNOW_DEVICE_FN void store(T* to, const Floats<N>& v) {
  Pack<T, N> pack;
  for (int i = 0; i < N; ++i) pack.at[i] = element<T>(v.at[i]);
  move(to, pack);
}

// ---- Threads over a flat array. Each thread processes kEach packs, which are one block width
// apart.

inline constexpr int kEach = 4;

template <int N>
constexpr LaunchShape flat_shape(Index count) {
  return {greatest(1, ceil_div(count, Index{kThreads} * kEach * N)), kThreads};
}

template <int N>
struct Width {
  static constexpr int kValue = N;
};

// Calls f(element, Width) for this thread's packs, and for each single element of an incomplete
// last pack.
template <int N, class Function>
WINNOW_DEVICE_FN void for_flat(const Place& at, Index count, Function f) {
  for (int k = 0; k < kEach; ++k) {
    const Index first = ((at.block * kEach + k) * kThreads + at.thread) * N;
    if (first + N <= count) {
      f(first, Width<N>());
    } else if constexpr (N > 1) {
      for (Index i = first; i < count; ++i) f(i, Width<1>());
    }
  }
}

// ---- Threads over a matrix (rows, channels), with the channels in groups of one pack.
// Neighbouring threads process neighbouring groups of a row. A tile is as many groups as a block is
// wide; a slab is the rows of a tile that one block processes.

struct Tiling {
  Index groups = 1;
  Index tiles = 1;
  int shift = 0;  // log2 of the tile's width: width = 1 << shift
  WINNOW_DEVICE_FN int width() const { return 1 << shift; }
  WINNOW_DEVICE_FN int height_shift() const { return kThreadsShift - shift; }
  WINNOW_DEVICE_FN int height() const { return 1 << height_shift(); }
};
constexpr Tiling tiling(Index channels, int pack, int widest_shift = 5) {
  Tiling t;
  t.groups = channels / pack;
  while (t.shift < widest_shift && (1 << t.shift) < t.groups) ++t.shift;
  t.tiles = greatest(1, ceil_div(t.groups, Index{1} << t.shift));
  return t;
}

struct Spot {
  Index slab;
  Index group;
  int x, y;  // column and row of the thread within its tile
};
WINNOW_DEVICE_FN Spot spot(const Tiling& t, const Place& at) {
  const QuotientRest block = split(at.block, t.tiles);
  const int x = at.thread & (t.width() - 1);
  return {block.quotient, block.rest * t.width() + x, x, at.thread >> t.shift};
}

inline constexpr int kRowsEach = 8;  // number of matrix rows that each thread processes

inline LaunchShape matrix_shape(const Tiling& t, Index rows) {
  return {t.tiles * greatest(1, ceil_div(rows, Index{t.height()} * kRowsEach)), kThreads};
}

// Calls f(row) for the matrix rows that this thread processes.
template <class Function>
WINNOW_DEVICE_FN void for_rows(const Tiling& t, const Spot& s, Index rows, Function f) {
  if (s.group >= t.groups) return;
  for (int k = 0; k < kRowsEach; ++k) {
    const Index row = (s.slab * kRowsEach + k) * t.height() + s.y;
    if (row < rows) f(row);
  }
}

// ---- Sums over the threads of a block, kWays sums at once. They are made in two steps, so that
// few threads wait for a single one.

inline constexpr int kFew = 16;

template <int kWays>
struct BlockSums {
  double at[kWays][kThreads];

  WINNOW_DEVICE_FN void first_step(int thread) {
    if (thread >= kFew) return;
    constexpr int kSpan = kThreads / kFew;
    for (int way = 0; way < kWays; ++way) {
      double sum = 0;
      for (int i = 0; i < kSpan; ++i) sum += at[way][thread * kSpan + i];
      at[way][thread * kSpan] = sum;
    }
  }
  // Returns the total of sum `way`. Called by one thread, which may then store it in at[way][0].
  WINNOW_DEVICE_FN double second_step(int way) const {
    double sum = 0;
    for (int i = 0; i < kFew; ++i) sum += at[way][i * (kThreads / kFew)];
    return sum;
  }
};

}  // namespace winnow::train::cudnn::kernels

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "common/comm/mpi/combine_internal.h"

namespace winnow::comm {

namespace {

template <class T, class Operation>
void combine(std::byte* into, const std::byte* from, std::size_t count) {
  T* __restrict a = reinterpret_cast<T*>(into);
  const T* __restrict b = reinterpret_cast<const T*>(from);
  for (std::size_t i = 0; i < count; ++i) a[i] = Operation{}(a[i], b[i]);
}

struct Largest {
  template <class T>
  T operator()(T a, T b) const {
    return std::max(a, b);
  }
};

template <class T>
Combine of_integers(MPI_Datatype type, Reduction reduction) {
  // Unsigned, since a sum that leaves the range shall wrap.
  using Sum = std::make_unsigned_t<T>;
  return {type, sizeof(T),
          reduction == Reduction::kMax ? &combine<T, Largest> : &combine<Sum, std::plus<>>};
}

// bf16 is the upper half of f32.
std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
  const std::uint32_t even = (bits >> 16U) & 1U;
  const std::uint32_t rounded = (bits + 0x7fffU + even) >> 16U;
  return static_cast<std::uint16_t>(nan ? (bits >> 16U) | 0x40U : rounded);
}
float from_bf16(std::uint16_t value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16U);
}

void encode_bf16(std::byte* buffer, std::byte* message, std::size_t count) {
  auto* const values = reinterpret_cast<float*>(buffer);
  auto* const out = reinterpret_cast<std::uint16_t*>(message);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t rounded = to_bf16(values[i]);
    values[i] = from_bf16(rounded);
    if (out != nullptr) out[i] = rounded;
  }
}

void decode_bf16(std::byte* buffer, const std::byte* message, std::size_t count) {
  auto* const values = reinterpret_cast<float*>(buffer);
  const auto* const in = reinterpret_cast<const std::uint16_t*>(message);
  for (std::size_t i = 0; i < count; ++i) values[i] = from_bf16(in[i]);
}

void add_bf16(std::byte* into, const std::byte* message, std::size_t count) {
  auto* __restrict const values = reinterpret_cast<float*>(into);
  const auto* __restrict const in = reinterpret_cast<const std::uint16_t*>(message);
  for (std::size_t i = 0; i < count; ++i) values[i] += from_bf16(in[i]);
}

constexpr Coding kBF16{sizeof(std::uint16_t), &encode_bf16, &decode_bf16};

}  // namespace

Combine sum_of_floats(Wire wire) {
  if (wire == Wire::kBF16) return {MPI_UINT16_T, sizeof(float), &add_bf16, &kBF16};
  return {MPI_FLOAT, sizeof(float), &combine<float, std::plus<>>};
}
Combine of_int32(Reduction reduction) { return of_integers<std::int32_t>(MPI_INT32_T, reduction); }
Combine of_int64(Reduction reduction) { return of_integers<std::int64_t>(MPI_INT64_T, reduction); }
Combine none() { return {MPI_INT32_T, sizeof(std::int32_t), nullptr}; }

}  // namespace winnow::comm

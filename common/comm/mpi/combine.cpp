#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>

#include "common/comm/mpi/combine_internal.h"
#include "common/error.h"
#include "common/small_float.h"

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
  // Unsigned, so that an overflowing sum wraps.
  using Sum = std::make_unsigned_t<T>;
  return {type, sizeof(T),
          reduction == Reduction::kMax ? &combine<T, Largest> : &combine<Sum, std::plus<>>};
}

template <class Small>
void encode(std::byte* buffer, std::byte* message, std::size_t count) {
  auto* const values = reinterpret_cast<float*>(buffer);
  auto* const out = reinterpret_cast<Small*>(message);
  for (std::size_t i = 0; i < count; ++i) {
    const Small rounded = round_to<Small>(values[i]);
    values[i] = to_float(rounded);
    if (out != nullptr) out[i] = rounded;
  }
}

template <class Small>
void decode(std::byte* buffer, const std::byte* message, std::size_t count) {
  auto* const values = reinterpret_cast<float*>(buffer);
  const auto* const in = reinterpret_cast<const Small*>(message);
  for (std::size_t i = 0; i < count; ++i) values[i] = to_float(in[i]);
}

template <class Small>
void add(std::byte* into, const std::byte* message, std::size_t count) {
  auto* __restrict const values = reinterpret_cast<float*>(into);
  const auto* __restrict const in = reinterpret_cast<const Small*>(message);
  for (std::size_t i = 0; i < count; ++i) values[i] += to_float(in[i]);
}

template <class Small>
constexpr Coding kCoding{sizeof(Small), &encode<Small>, &decode<Small>};

template <class Small>
Combine sum_in_floats() {
  return {MPI_UINT16_T, sizeof(float), &add<Small>, &kCoding<Small>};
}

Combine sum_of_floats(Wire wire) {
  if (wire == Wire::kBF16) return sum_in_floats<BF16>();
  if (wire == Wire::kF16) return sum_in_floats<F16>();
  return {MPI_FLOAT, sizeof(float), &combine<float, std::plus<>>};
}

}  // namespace

Combine combine_of(const Collective& what) {
  const ElementType type = what.buffer.type;
  const bool integers = type == ElementType::kI32 || type == ElementType::kI64;
  if (what.reduction == Reduction::kMax && !integers) {
    throw Error("an all-reduce for the maximum of " + std::string(info(type).many) +
                " was requested; only integers support it");
  }
  if (what.wire != Wire::kF32 && type != ElementType::kF32) {
    throw Error(
        "an all-reduce of " + std::string(info(type).many) +
        " was requested with another type for messages; only f32 can be sent as another type");
  }
  switch (type) {
    case ElementType::kF32:
      return sum_of_floats(what.wire);
    case ElementType::kF64:
      return {MPI_DOUBLE, sizeof(double), &combine<double, std::plus<>>};
    case ElementType::kI32:
      return of_integers<std::int32_t>(MPI_INT32_T, what.reduction);
    case ElementType::kI64:
      return of_integers<std::int64_t>(MPI_INT64_T, what.reduction);
    case ElementType::kBF16:
    case ElementType::kF16:
      break;
  }
  throw Error("an all-reduce of " + std::string(info(type).many) +
              " was requested, but this type cannot be summed; use a buffer of f32, which can be "
              "sent as bf16 or f16");
}

Combine none() { return {MPI_INT32_T, sizeof(std::int32_t), nullptr}; }

}  // namespace winnow::comm

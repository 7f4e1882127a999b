#include <algorithm>
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

}  // namespace

Combine sum_of_floats() { return {MPI_FLOAT, sizeof(float), &combine<float, std::plus<>>}; }
Combine of_int32(Reduction reduction) { return of_integers<std::int32_t>(MPI_INT32_T, reduction); }
Combine of_int64(Reduction reduction) { return of_integers<std::int64_t>(MPI_INT64_T, reduction); }
Combine none() { return {MPI_INT32_T, sizeof(std::int32_t), nullptr}; }

}  // namespace winnow::comm

#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

namespace winnow::dedup {

template <std::size_t N>
using Vector = std::array<double, N>;
template <std::size_t N>
using Matrix = std::array<Vector<N>, N>;

// Solves the linear equations left x = right by elimination with pivots; nullopt if singular.
template <std::size_t N>
std::optional<Vector<N>> solve(Matrix<N> left, Vector<N> right) {
  for (std::size_t k = 0; k < N; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < N; ++i) {
      if (std::fabs(left[i][k]) > std::fabs(left[pivot][k])) pivot = i;
    }
    if (std::fabs(left[pivot][k]) < 1e-14) return std::nullopt;
    std::swap(left[k], left[pivot]);
    std::swap(right[k], right[pivot]);
    for (std::size_t i = 0; i < N; ++i) {
      if (i == k) continue;
      const double factor = left[i][k] / left[k][k];
      for (std::size_t j = k; j < N; ++j) left[i][j] -= factor * left[k][j];
      right[i] -= factor * right[k];
    }
  }
  for (std::size_t k = 0; k < N; ++k) right[k] /= left[k][k];
  return right;
}

}  // namespace winnow::dedup

#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace winnow::dedup {

// For each pair of rows, given best first: whether it is among the first `most` pairs of at least
// one of its rows.
inline std::vector<bool> are_best_of_a_row(
    std::span<const std::pair<std::uint32_t, std::uint32_t>> best_first, int most) {
  std::unordered_map<std::uint32_t, int> taken;
  std::vector<bool> are_best;
  for (const auto& [a, b] : best_first) {
    int& of_a = taken[a];
    int& of_b = taken[b];
    are_best.push_back(of_a < most || of_b < most);
    if (are_best.back()) ++of_a, ++of_b;
  }
  return are_best;
}

}  // namespace winnow::dedup

#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace winnow::dedup {

// Selects at most `most` of the values, evenly spaced.
template <class Value>
std::vector<Value> evenly(std::span<const Value> all, std::size_t most) {
  std::vector<Value> some(std::min(all.size(), most));
  for (std::size_t i = 0; i < some.size(); ++i) some[i] = all[i * all.size() / some.size()];
  return some;
}

}  // namespace winnow::dedup

#pragma once

#include <algorithm>
#include <functional>
#include <span>

namespace winnow::train {

// sum[i] += term[i].
template <class T>
void add_to(std::span<T> sum, std::span<const T> term) {
  std::ranges::transform(sum, term, sum.begin(), std::plus<>());
}

}  // namespace winnow::train

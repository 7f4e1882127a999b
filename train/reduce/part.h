#pragma once

#include <cstddef>

namespace winnow::train {

// One of `of` equal parts of a range of elements, by which threads share elementwise work.
struct Part {
  int index = 0;
  int of = 1;

  friend bool operator==(const Part&, const Part&) = default;
};

// Elements [begin, end).
struct Elements {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const noexcept { return end - begin; }
};

// Returns the elements of [begin, begin + count) that belong to `part`. Parts are disjoint and
// cover the range. All except the first start at multiples of 64 elements from `begin`, so that
// threads share no cache line.
inline Elements elements_of(Part part, std::size_t begin, std::size_t count) noexcept {
  constexpr std::size_t kGrain = 64;
  const std::size_t grains = (count + kGrain - 1) / kGrain;
  const auto edge = [&](int index) {
    const std::size_t at =
        grains * static_cast<std::size_t>(index) / static_cast<std::size_t>(part.of) * kGrain;
    return begin + (at < count ? at : count);
  };
  return {edge(part.index), edge(part.index + 1)};
}

}  // namespace winnow::train

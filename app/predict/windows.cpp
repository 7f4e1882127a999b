#include "app/predict/windows.h"

#include <algorithm>
#include <cmath>

namespace winnow::app {

std::int64_t stride_of(std::int64_t window, double overlap) noexcept {
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(window) * (1 - overlap)));
}

std::vector<std::int64_t> window_starts(std::int64_t side, std::int64_t window,
                                        std::int64_t stride) {
  const std::int64_t last = std::max<std::int64_t>(0, side - window);
  std::vector<std::int64_t> starts;
  for (std::int64_t at = 0; at < last; at += stride) starts.push_back(at);
  starts.push_back(last);
  return starts;
}

}  // namespace winnow::app

#include "train/plan/lanes.h"

#include <algorithm>

#include "pipeline/load/order.h"

namespace winnow::train {

int choose_lane_threads(int wished, int stored, bool reproducible, int cores,
                        std::int64_t micro_batches) {
  if (wished > 0) return wished;
  if (stored > 0) return stored;
  if (reproducible) return 1;
  return cores / static_cast<int>(std::clamp<std::int64_t>(micro_batches, 1, cores));
}

std::vector<int> choose_lanes(int cores, int lane_threads, std::int64_t micro_batches, int most) {
  const auto lanes = static_cast<int>(
      std::clamp<std::int64_t>(std::min(cores / lane_threads, most), 1, micro_batches));
  std::vector<int> counts;
  for (int lane = 0; lane < lanes; ++lane) {
    const auto [first, last] = pipeline::share(micro_batches, lane, lanes);
    counts.push_back(static_cast<int>(last - first));
  }
  return counts;
}

}  // namespace winnow::train

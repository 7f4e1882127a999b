#pragma once

#include <cstdint>
#include <vector>

namespace winnow::train {

// The threads of each lane. Pure.
// In   `wished`: --lane-threads, 0: none given. `stored`: of the run's plan, 0: none.
// Out  `wished`, else `stored`. Else 1 for reproducible runs, whatever the machine has; others
//      share a rank's `cores` among as many lanes as it has micro-batches.
int choose_lane_threads(int wished, int stored, bool reproducible, int cores,
                        std::int64_t micro_batches);

// Micro-batches of each lane of a rank. Pure.
// Out  As many lanes as the cores allow, at least one and at most `most`; contiguous runs that
//      differ by at most one.
std::vector<int> choose_lanes(int cores, int lane_threads, std::int64_t micro_batches, int most);

}  // namespace winnow::train

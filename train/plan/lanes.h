#pragma once

#include <cstdint>
#include <vector>

namespace winnow::train {

// The number of threads of each lane. Pure.
// wished  --lane-threads; 0: not given.
// stored  From the run's plan; 0: none.
// Out     `wished`, otherwise `stored`. Otherwise 1 for reproducible runs, on any machine; other
//         runs share a rank's `cores` among as many lanes as it has micro-batches.
int choose_lane_threads(int wished, int stored, bool reproducible, int cores,
                        std::int64_t micro_batches);

// The number of micro-batches of each lane of a rank. Pure.
// Out  As many lanes as the cores allow, at least one and at most `most`. Lanes have contiguous
//      ranges whose sizes differ by at most one.
std::vector<int> choose_lanes(int cores, int lane_threads, std::int64_t micro_batches, int most);

}  // namespace winnow::train

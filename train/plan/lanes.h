#pragma once

#include <cstdint>
#include <vector>

namespace winnow::train {

// Returns the number of threads of each lane (program replica). Pure.
// wished  --lane-threads; 0: not given.
// stored  From the run's plan; 0: none.
// Out     `wished`, otherwise `stored`. Otherwise 1 for reproducible runs, on any machine; in other
//         runs the lanes share the `cores` of the rank, with one lane for each micro-batch.
int choose_lane_threads(int wished, int stored, bool reproducible, int cores,
                        std::int64_t micro_batches);

// Returns the number of micro-batches of each lane (program replica) of a rank. Pure.
// Out  As many lanes as the cores allow, at least one and at most `most`. Lanes have contiguous
//      ranges, whose sizes differ by at most one.
std::vector<int> choose_lanes(int cores, int lane_threads, std::int64_t micro_batches, int most);

}  // namespace winnow::train

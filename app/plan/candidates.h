#pragma once

#include <cstdint>
#include <vector>

namespace winnow::app {

// Group sizes over which batch norm learns equally well (docs/results/variants.md).
inline constexpr std::int64_t kLeastNormGroup = 16;
inline constexpr std::int64_t kMostNormGroup = 512;

// The facts that the choices of a plan depend on. A lane is a copy of the net's program that
// computes one micro-batch at a time, on threads of its own.
struct ChoiceOf {
  std::int64_t batch = 1;        // over all ranks
  std::int64_t micro_batch = 1;  // micro-batch that the run would have
  int ranks = 1;
  int cores = 1;              // computing cores of a rank
  int lane_threads = 0;       // threads of a lane that were asked for; 0: none
  bool has_norm = false;      // the net has batch norm, whose group is the micro-batch
  bool reproducible = false;  // --reproducible, which fixes the number of threads of a lane
};

struct LaneChoice {
  std::int64_t micro_batch = 1;
  int lane_threads = 1;
};

// All micro-batches that a plan may consider, ascending. They divide the batch and leave at least
// one for each rank; with batch norm, all except the run's own have kLeastNormGroup to
// kMostNormGroup samples.
std::vector<std::int64_t> micro_batches_of(const ChoiceOf& of);

// The rows of a plan: at most six micro-batches, those nearest to the run's own, each in the lanes
// that the run would use. Also the run's own in lanes with other numbers of threads, if none was
// asked for.
std::vector<LaneChoice> choices_of(const ChoiceOf& of);

// The micro-batches to measure: at most three, of at most 64 images except for the smallest. The
// smallest comes first, because it tells how long the others take.
std::vector<std::int64_t> measured_of(const std::vector<std::int64_t>& fitting,
                                      std::int64_t micro_batch);

}  // namespace winnow::app

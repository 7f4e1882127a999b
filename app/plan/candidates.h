#pragma once

#include <cstdint>
#include <vector>

namespace winnow::app {

// Batch norm learns alike over groups of these sizes (docs/results/variants.md).
inline constexpr std::int64_t kLeastNormGroup = 16;
inline constexpr std::int64_t kMostNormGroup = 512;

// What the choices of a plan follow from.
struct ChoiceOf {
  std::int64_t batch = 1;        // of all ranks
  std::int64_t micro_batch = 1;  // that the run would have
  int ranks = 1;
  int cores = 1;              // that compute, of a rank
  int lane_threads = 0;       // asked for; 0: none was
  bool has_norm = false;      // the micro-batch is the group of batch norm
  bool reproducible = false;  // threads of a lane change bits
};

struct LaneChoice {
  std::int64_t micro_batch = 1;
  int lane_threads = 1;
};

// All micro-batches that a plan may look at, ascending: they divide the batch, leave one for each
// rank, and with batch norm are of kLeastNormGroup to kMostNormGroup samples, but for the run's
// own.
std::vector<std::int64_t> micro_batches_of(const ChoiceOf& of);

// The rows of a plan: six micro-batches at most, those nearest to the run's own, each in the lanes
// that the run would take; and the run's own in lanes of other threads, where none were asked for.
std::vector<LaneChoice> choices_of(const ChoiceOf& of);

// Which micro-batches to measure, at most three, of at most 64 images but for the smallest: the
// smallest first, since it says what the others take.
std::vector<std::int64_t> measured_of(const std::vector<std::int64_t>& fitting,
                                      std::int64_t micro_batch);

}  // namespace winnow::app

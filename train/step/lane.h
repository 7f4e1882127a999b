#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/sample.h"
#include "pipeline/load/batch.h"
#include "train/backend/backend.h"
#include "train/step/feed.h"

namespace winnow::train {

// One lane of a step: its program, its inputs, and its results.
struct StepLane {
  explicit StepLane(Program& program_of_lane);

  Program& program;
  Feed feed;
  std::vector<float> loss;
  std::vector<float> per_sample;
  std::vector<float> logits;
  // Results of local heads, in the order of their stages.
  struct Head {
    std::vector<float> per_sample;
    std::vector<float> logits;
  };
  std::vector<std::vector<float>> local_losses;
  std::vector<Head> heads;
  int first_micro_batch = -1;  // among those of the rank
  std::size_t given = 0;       // nodes [0, given) of the micro-batch were passed to the program
  bool loss_is_finite = true;  // for its micro-batches of the step
  std::vector<SampleId> not_finite{};  // samples of the step whose loss is not finite
};

// Begins micro-batch `m` of its rank on the lane. Resets `given`, and for the lane's first one also
// the findings about losses.
void begin_micro_batch(StepLane& lane, int m);

// Scores micro-batch `m` of `batch`, which the lane's program has run. Writes the results of the
// net and of each head into `tail` (StepTail, except kStop). Records samples whose loss is not
// finite.
void score_lane(StepLane& lane, const pipeline::Batch& batch, std::size_t m, std::span<float> tail);

// Waits for the programs after an error within a step, because they may still be using the batch
// and the buffers of the step.
void wait_for_programs(std::vector<StepLane>& lanes) noexcept;

}  // namespace winnow::train

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/sample.h"
#include "pipeline/load/batch.h"
#include "train/backend/backend.h"
#include "train/step/feed.h"

namespace winnow::train {

// One lane of a step: its program, what it is fed and where that leaves its results.
struct StepLane {
  explicit StepLane(Program& program_of_lane);

  Program& program;
  Feed feed;
  std::vector<float> loss;
  std::vector<float> per_sample;
  std::vector<float> logits;
  // What local heads leave, in the order of their stages.
  struct Head {
    std::vector<float> per_sample;
    std::vector<float> logits;
  };
  std::vector<std::vector<float>> local_losses;
  std::vector<Head> heads;
  int first_micro_batch = -1;          // of the rank's
  std::size_t given = 0;               // nodes [0, given) of the micro-batch to the program
  bool loss_is_finite = true;          // of its micro-batches of the step
  std::vector<SampleId> not_finite{};  // samples of the step whose loss is not
};

// The lane's program has run micro-batch `m` of `batch`: what that is worth, for the net and each
// head, goes into `tail` (StepTail, but for kStop). Samples whose loss is not finite are kept.
void score_lane(StepLane& lane, const pipeline::Batch& batch, std::size_t m, std::span<float> tail);

// After a failure in the midst of a step: what programs were given still uses the batch and the
// buffers of the step.
void wait_for_programs(std::vector<StepLane>& lanes) noexcept;

}  // namespace winnow::train

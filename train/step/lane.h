#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/sample.h"
#include "pipeline/load/batch.h"
#include "train/backend/backend.h"
#include "train/step/feed.h"

namespace winnow::train {

// One lane of a step (a replica of the program that computes micro-batches): its program, inputs
// and results.
struct StepLane {
  explicit StepLane(Program& program_of_lane);

  Program& program;
  Feed feed;
  std::vector<float> loss;
  std::vector<float> per_sample;
  std::vector<float> logits;
  // Results of one local head (auxiliary classifier of a stage).
  struct Head {
    std::vector<float> per_sample;
    std::vector<float> logits;
  };
  std::vector<std::vector<float>> local_losses;
  std::vector<Head> heads;
  // Index of the first micro-batch that the lane computes, among those of the rank.
  int first_micro_batch = -1;
  std::size_t given = 0;  // nodes [0, given) of the current micro-batch were passed to the program
  // Whether losses are finite, for the micro-batches of this step so far.
  bool loss_is_finite = true;
  std::vector<SampleId> not_finite{};  // ids of this step's samples whose loss is not finite
};

// Begins micro-batch `m` of this rank on the lane (program replica). Resets `given`; for the lane's
// first micro-batch of a step, also what was found about its losses.
void begin_micro_batch(StepLane& lane, int m);

// Scores micro-batch `m` of `batch` after the lane's program has run it. Writes the results of the
// net and of each local head (auxiliary classifier) to `tail`, indexed by StepTail (except kStop).
// Records samples whose loss is not finite.
void score_lane(StepLane& lane, const pipeline::Batch& batch, std::size_t m, std::span<float> tail);

// Waits for the programs of all lanes (program replicas) after an error within a step, because they
// may still be using the batch and the buffers of the step.
void wait_for_programs(std::vector<StepLane>& lanes) noexcept;

}  // namespace winnow::train

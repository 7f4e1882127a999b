#pragma once

#include <cstddef>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// The layout of everything that is summed over micro-batches and ranks, in one flat f32 buffer. It
// has parameter gradients and batch-norm statistics in the order in which they become ready,
// divided into buckets that are reduced as soon as they are full. The last bucket ends with a few
// numbers of the trainer.
struct GradientLayout {
  struct Tensor {
    std::size_t output;  // index into graph.outputs
    std::size_t offset;  // in elements
    std::size_t count;
  };
  struct Bucket {
    std::size_t offset = 0;  // in elements
    std::size_t count = 0;
    std::size_t first_tensor = 0;
    std::size_t last_tensor = 0;  // one past the last
    // nodes [0, ready_after) write all of it, and no later node reads it
    std::size_t ready_after = 0;
  };
  std::vector<Tensor> tensors;
  std::vector<Bucket> buckets;  // at least one; ready_after ascends
  std::size_t elements = 0;
  std::size_t tail_offset = 0;  // the trainer's numbers, in the last bucket
};

// Closes a bucket when it holds at least `bucket_bytes`; tensors are never divided. Pure.
GradientLayout layout_gradients(const Graph& graph, std::size_t bucket_bytes,
                                std::size_t tail_count);

}  // namespace winnow::train

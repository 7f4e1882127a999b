#pragma once

#include <cstddef>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// Layout of everything that is summed over micro-batches and ranks, in one flat f32 buffer.
// Content  Parameter gradients and batch norm statistics, in the order in which they become ready.
// Buckets  Contiguous parts of the buffer. Each is reduced as soon as it is complete. The last
//          bucket ends with the tail: a few numbers of the trainer.
struct GradientLayout {
  struct Tensor {
    std::size_t output;  // index into Graph::outputs
    std::size_t offset;  // offset of the tensor, in elements
    std::size_t count;
  };
  struct Bucket {
    std::size_t offset = 0;  // offset of the bucket, in elements
    std::size_t count = 0;
    std::size_t first_tensor = 0;
    std::size_t last_tensor = 0;  // one past the last tensor of the bucket
    // Nodes [0, ready_after) compute the whole bucket, and no later node reads it.
    std::size_t ready_after = 0;
  };
  std::vector<Tensor> tensors;
  std::vector<Bucket> buckets;  // at least one; ready_after ascends from bucket to bucket
  std::size_t elements = 0;
  std::size_t tail_offset = 0;  // offset of the tail, which is in the last bucket
};

// Lays out the sums of a graph. A bucket is closed when it holds at least `bucket_bytes`; tensors
// are never divided. `tail_count`: number of the trainer's own numbers at the end. Pure.
GradientLayout layout_gradients(const Graph& graph, std::size_t bucket_bytes,
                                std::size_t tail_count);

}  // namespace winnow::train

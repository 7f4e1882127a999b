#pragma once

#include <cstddef>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// Where everything that is summed over micro-batches and ranks lies in one flat f32 buffer:
// parameter gradients and batch-norm statistics in the order they become ready, cut into buckets
// that are reduced as soon as they are full; the last bucket ends with a few numbers of the
// trainer's own.
struct GradientLayout {
  struct Tensor {
    std::size_t output;  // index into graph.outputs
    std::size_t offset;  // elements
    std::size_t count;
  };
  struct Bucket {
    std::size_t offset = 0;  // elements
    std::size_t count = 0;
    std::size_t first_tensor = 0;
    std::size_t last_tensor = 0;  // one past
    std::size_t ready_after = 0;  // nodes [0, ready_after) write all of it; none after reads it
  };
  std::vector<Tensor> tensors;
  std::vector<Bucket> buckets;  // at least one; ready_after ascends
  std::size_t elements = 0;
  std::size_t tail_offset = 0;  // the trainer's own numbers, in the last bucket
};

// Pure. A bucket is closed when it holds at least `bucket_bytes`; tensors are never cut.
GradientLayout layout_gradients(const Graph& graph, std::size_t bucket_bytes,
                                std::size_t tail_count);

}  // namespace winnow::train

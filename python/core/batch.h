#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "pipeline/load/batch.h"

namespace winnow::python {

// Keeps batches that are no longer needed, to reuse their memory: fresh memory costs as much as
// filling it.
class UsedBatches {
 public:
  pipeline::Batch take();  // an empty batch if none is kept
  void give(pipeline::Batch batch);

 private:
  static constexpr std::size_t kMost = 2;
  std::mutex lock_;
  std::vector<pipeline::Batch> batches_;
};

// A batch whose arrays are visible in Python. Lives as long as any of the arrays.
struct HeldBatch {
  HeldBatch(pipeline::Batch from, std::uint64_t first_position,
            std::shared_ptr<UsedBatches> back_to);
  HeldBatch(const HeldBatch&) = delete;
  HeldBatch& operator=(const HeldBatch&) = delete;
  ~HeldBatch();

  pipeline::Batch batch;
  std::uint64_t begin = 0;  // position of the batch's first sample in the stream
  std::shared_ptr<UsedBatches> used;
};

}  // namespace winnow::python

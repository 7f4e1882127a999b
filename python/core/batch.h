#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "pipeline/load/batch.h"

namespace winnow::python {

// Batches that are no longer needed, kept for their memory: fresh memory costs as much as filling
// it.
class UsedBatches {
 public:
  pipeline::Batch take();  // empty if there is none
  void give(pipeline::Batch batch);

 private:
  static constexpr std::size_t kMost = 2;
  std::mutex lock_;
  std::vector<pipeline::Batch> batches_;
};

// A batch with arrays visible in Python. Lives as long as any of them.
struct HeldBatch {
  HeldBatch(pipeline::Batch from, std::uint64_t first_position,
            std::shared_ptr<UsedBatches> back_to);
  HeldBatch(const HeldBatch&) = delete;
  HeldBatch& operator=(const HeldBatch&) = delete;
  ~HeldBatch();

  pipeline::Batch batch;
  std::uint64_t begin = 0;  // position of its first sample in the stream
  std::shared_ptr<UsedBatches> used;
};

}  // namespace winnow::python

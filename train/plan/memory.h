#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace winnow::train {

// Memory of a lane of training or evaluation, in bytes.
struct LaneMemory {
  std::size_t values = 0;     // results of nodes that others read
  std::size_t scratch = 0;    // for kernels, while a node runs
  std::size_t gradients = 0;  // for one micro-batch
  std::size_t further = 0;    // sums of gradients, if the lane has several micro-batches
};

// Memory of evaluation in bytes. It is kept between evaluations.
struct EvaluationMemory {
  std::size_t packed = 0;     // weights in the layouts of its kernels
  LaneMemory lane{};          // for each lane
  std::size_t batches = 0;    // batches that are loaded during evaluation
  bool before_saving = true;  // some evaluations come before a checkpoint
};

// Memory in bytes that a rank needs to train, by purpose.
struct MemoryNeeds {
  std::size_t program = 0;    // the process itself, its libraries and their buffers
  std::size_t weights = 0;    // including running statistics
  std::size_t optimizer = 0;  // state of the optimiser
  std::size_t averages = 0;   // averages of weights
  std::size_t packed = 0;     // weights in the layouts of kernels, once for all lanes
  std::size_t sums = 0;       // sums of gradients, once
  LaneMemory lane{};          // for each lane
  EvaluationMemory evaluation{};
  std::size_t checkpoint = 0;  // held while one is written; 0 on ranks that write none
  std::size_t batch = 0;       // one batch that the rank loads
  int micro_batches = 1;       // number that the rank computes in a step
};

// Batches of this rank in memory at once if the loader prepares `ahead` of them: these, the one
// being prepared, and the one in training.
constexpr int batches_held(int ahead) noexcept { return ahead + 2; }

// Lanes and batches that fit into a rank's memory.
struct MemoryFit {
  int lanes = 1;
  int evaluation_lanes = 1;
  int batches_ahead = 1;
  std::size_t peak = 0;  // in bytes, by peak_bytes()
};

// When a rank's memory use peaks.
enum class MemoryPeak : std::uint8_t { kStep, kEvaluation, kCheckpoint };
std::string_view peak_name(MemoryPeak peak) noexcept;  // "step", "evaluation", "checkpoint"

// Memory at the peak, by purpose.
struct MemoryParts {
  static constexpr std::size_t kCount = 10;
  // In this order: "program", "weights", "optimizer", "averages", "values", "scratch", "gradients",
  // "evaluation", "checkpoint", "batches".
  std::array<std::pair<std::string_view, std::size_t>, kCount> parts{};
  MemoryPeak at = MemoryPeak::kStep;

  std::size_t total() const noexcept;
};

// Peak memory of a rank by purpose, with the lanes and batches of `fit`. Pure.
MemoryParts parts_at_peak(const MemoryNeeds& needs, const MemoryFit& fit) noexcept;
std::size_t peak_bytes(const MemoryNeeds& needs, const MemoryFit& fit) noexcept;  // their total

// The largest part of `wished` that fits into `available` bytes, with at least one of each. Reduces
// batches ahead first, then lanes of evaluation, then lanes. Pure.
// Out  If nothing fits: one of each, with a peak above `available`.
MemoryFit fit_as_far_as_possible(const MemoryNeeds& needs, std::size_t available,
                                 const MemoryFit& wished) noexcept;

// As fit_as_far_as_possible(), but throws if nothing fits.
// micro_batch  Samples of a micro-batch, for the message.
// Throws       UsageError: not even one lane fits. The message has the memory needed and available,
//              and an estimate of the largest --micro-batch that would fit.
MemoryFit fit_memory(const MemoryNeeds& needs, std::size_t available, const MemoryFit& wished,
                     std::int64_t micro_batch);

// Text such as "values 3.2 GB, weights 100 MB", the largest first, without parts below a megabyte.
std::string in_words(const MemoryParts& parts);

// Text such as "3.1 GB" or "870 MB", in powers of ten.
std::string in_bytes(std::size_t bytes);

}  // namespace winnow::train

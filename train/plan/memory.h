#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace winnow::train {

// Memory of one lane (program replica) of training or evaluation, in bytes.
struct LaneMemory {
  std::size_t values = 0;     // results of nodes that other nodes read
  std::size_t scratch = 0;    // scratch memory of kernels, while a node runs
  std::size_t gradients = 0;  // gradients of one micro-batch
  std::size_t further = 0;    // sums of gradients, needed if the lane has several micro-batches
};

// Memory that evaluation needs, in bytes. It stays allocated between evaluations.
struct EvaluationMemory {
  std::size_t packed = 0;     // weights in the layouts of the kernels of evaluation
  LaneMemory lane{};          // memory of each evaluation lane (program replica)
  std::size_t batches = 0;    // batches that are loaded during evaluation
  bool before_saving = true;  // whether some evaluations come before a checkpoint
};

// Memory in bytes that a rank needs for training, by purpose.
struct MemoryNeeds {
  std::size_t program = 0;    // the process itself, its libraries and their buffers
  std::size_t weights = 0;    // weights and running statistics
  std::size_t optimizer = 0;  // state of the optimiser
  std::size_t averages = 0;   // averages of weights
  std::size_t packed = 0;     // weights in the layouts of kernels, which all lanes share
  std::size_t sums = 0;       // sums of gradients, which all lanes share
  LaneMemory lane{};          // memory of each training lane (program replica)
  EvaluationMemory evaluation{};
  // Memory held while a checkpoint is written; 0 on ranks that write none.
  std::size_t checkpoint = 0;
  std::size_t batch = 0;  // one batch that the rank loads
  int micro_batches = 1;  // number of micro-batches that the rank computes in a step
};

// Number of batches of this rank in memory at once if the loader prepares `ahead` of them: these,
// the one being prepared, and the one in training.
constexpr int batches_held(int ahead) noexcept { return ahead + 2; }

// Numbers of lanes (program replicas) and of batches that fit into a rank's memory.
struct MemoryFit {
  int lanes = 1;
  int evaluation_lanes = 1;
  int batches_ahead = 1;
  std::size_t peak = 0;  // peak memory in bytes, by peak_bytes()
};

// Phase in which a rank's memory use peaks.
enum class MemoryPeak : std::uint8_t { kStep, kEvaluation, kCheckpoint };
// Name of the phase: "step", "evaluation", "checkpoint".
std::string_view peak_name(MemoryPeak peak) noexcept;

// Memory of a rank at the peak, by purpose.
struct MemoryParts {
  static constexpr std::size_t kCount = 10;
  // Names and bytes, in this order: "program", "weights", "optimizer", "averages", "values",
  // "scratch", "gradients", "evaluation", "checkpoint", "batches".
  std::array<std::pair<std::string_view, std::size_t>, kCount> parts{};
  MemoryPeak at = MemoryPeak::kStep;

  std::size_t total() const noexcept;
};

// Returns the peak memory of a rank by purpose, with the lanes and batches of `fit`. Pure.
MemoryParts parts_at_peak(const MemoryNeeds& needs, const MemoryFit& fit) noexcept;
// Total of parts_at_peak(), in bytes.
std::size_t peak_bytes(const MemoryNeeds& needs, const MemoryFit& fit) noexcept;

// Reduces `wished` until it fits into `available` bytes: first batches ahead, then evaluation
// lanes, then training lanes (program replicas), with at least one of each. Pure.
// Out  If nothing fits: one of each, with a peak above `available`.
MemoryFit fit_as_far_as_possible(const MemoryNeeds& needs, std::size_t available,
                                 const MemoryFit& wished) noexcept;

// As fit_as_far_as_possible(), but throws if nothing fits.
// micro_batch  Samples of a micro-batch, for the message.
// Throws       UsageError: not even one lane (program replica) fits. The message has the memory
//              needed and available, and an estimate of the largest --micro-batch that would fit.
MemoryFit fit_memory(const MemoryNeeds& needs, std::size_t available, const MemoryFit& wished,
                     std::int64_t micro_batch);

// Returns text such as "values 3.2 GB, weights 100 MB", the largest part first, without parts below
// a megabyte.
std::string in_words(const MemoryParts& parts);

// Returns text such as "3.1 GB" or "870 MB", in powers of ten.
std::string in_bytes(std::size_t bytes);

}  // namespace winnow::train

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace winnow::train {

// Bytes of a lane of training or evaluation.
struct LaneMemory {
  std::size_t values = 0;     // what nodes leave for others
  std::size_t scratch = 0;    // of kernels, while a node runs
  std::size_t gradients = 0;  // of a micro-batch
  std::size_t further = 0;    // sums of gradients, of a lane with several micro-batches
};

// Bytes of evaluation, which keeps its memory between two of them.
struct EvaluationMemory {
  std::size_t packed = 0;     // weights as its kernels read them
  LaneMemory lane{};          // of each lane
  std::size_t batches = 0;    // that are loaded, while it goes on
  bool before_saving = true;  // some of it comes before a checkpoint
};

// Bytes that a rank needs to train, by what they are for.
struct MemoryNeeds {
  std::size_t program = 0;    // the process itself, its libraries and their buffers
  std::size_t weights = 0;    // and running statistics
  std::size_t optimizer = 0;  // its state
  std::size_t averages = 0;   // of weights
  std::size_t packed = 0;     // weights as kernels read them, once for all lanes
  std::size_t sums = 0;       // of gradients, once
  LaneMemory lane{};          // of each lane
  EvaluationMemory evaluation{};
  std::size_t checkpoint = 0;  // what is held while one is written; 0 on ranks that write none
  std::size_t batch = 0;       // of a batch that the rank loads
  int micro_batches = 1;       // of the rank in a step
};

// Batches of this rank held at once when the loader prepares `ahead` of them: these, the one that
// is being made, and the one that is trained on.
constexpr int batches_held(int ahead) noexcept { return ahead + 2; }

// What a rank holds at once.
struct MemoryFit {
  int lanes = 1;
  int evaluation_lanes = 1;
  int batches_ahead = 1;
  std::size_t peak = 0;  // bytes, by peak_bytes()
};

// When a rank holds the most.
enum class MemoryPeak : std::uint8_t { kStep, kEvaluation, kCheckpoint };
std::string_view peak_name(MemoryPeak peak) noexcept;  // "step", "evaluation", "checkpoint"

// What is held then, by what it is for.
struct MemoryParts {
  static constexpr std::size_t kCount = 10;
  // "program", "weights", "optimizer", "averages", "values", "scratch", "gradients", "evaluation",
  // "checkpoint", "batches", in this order.
  std::array<std::pair<std::string_view, std::size_t>, kCount> parts{};
  MemoryPeak at = MemoryPeak::kStep;

  std::size_t total() const noexcept;
};

// The parts of the most bytes a rank holds at once, with the lanes and batches of `fit`. Pure.
MemoryParts parts_at_peak(const MemoryNeeds& needs, const MemoryFit& fit) noexcept;
std::size_t peak_bytes(const MemoryNeeds& needs, const MemoryFit& fit) noexcept;  // their total

// As much of what is wished as fits into `available` bytes: fewer batches ahead before fewer lanes
// of evaluation before fewer lanes, at least one of each. Pure.
// Out  nothing that fits: the peak of one of each, which is more than `available`
MemoryFit fit_as_far_as_possible(const MemoryNeeds& needs, std::size_t available,
                                 const MemoryFit& wished) noexcept;

// The same.
// In      `micro_batch`: samples of one, for the message
// Throws  UsageError: not even one lane fits; names what is needed, what there is, and the largest
//         --micro-batch that would fit, as far as the needs tell
MemoryFit fit_memory(const MemoryNeeds& needs, std::size_t available, const MemoryFit& wished,
                     std::int64_t micro_batch);

// "values 3.2 GB, weights 100 MB", the largest first, without parts below a megabyte.
std::string in_words(const MemoryParts& parts);

// "3.1 GB", "870 MB": powers of ten.
std::string in_bytes(std::size_t bytes);

}  // namespace winnow::train

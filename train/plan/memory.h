#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace winnow::train {

// Bytes that a rank needs to train, by what they are for.
struct MemoryNeeds {
  std::size_t program = 0;          // the process itself, its libraries and their buffers
  std::size_t model = 0;            // weights, optimiser state, the sums of the gradients
  std::size_t shared = 0;           // packed weights, once for all lanes
  std::size_t lane = 0;             // of each lane: values, scratch memory, gradients
  std::size_t evaluation = 0;       // packed weights of evaluation, its batches
  std::size_t evaluation_lane = 0;  // of each lane of evaluation
  std::size_t checkpoint = 0;       // what is held while one is written; 0 on ranks that write none
  std::size_t batch = 0;            // of a batch that the rank loads
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

// The most bytes a rank holds at once, with the lanes and batches of `fit`. Pure.
std::size_t peak_bytes(const MemoryNeeds& needs, const MemoryFit& fit) noexcept;

// As much of what is wished as fits into `available` bytes: fewer batches ahead before fewer lanes
// of evaluation before fewer lanes, at least one of each. Pure.
// In      `micro_batch`: samples of one, for the message
// Throws  UsageError: not even one lane fits; names what is needed, what there is, and the largest
//         --micro-batch that would fit, as far as the needs tell
MemoryFit fit_memory(const MemoryNeeds& needs, std::size_t available, const MemoryFit& wished,
                     std::int64_t micro_batch);

// "3.1 GB", "870 MB": powers of ten.
std::string in_bytes(std::size_t bytes);

}  // namespace winnow::train

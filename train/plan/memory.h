#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace winnow::train {

// Bytes that a rank needs to train, by what they are for.
struct MemoryNeeds {
  std::size_t program = 0;     // the process itself, its libraries and their buffers
  std::size_t model = 0;       // weights, optimiser state, the sums of the gradients
  std::size_t shared = 0;      // packed weights, once for all lanes
  std::size_t lane = 0;        // of each lane: values, scratch memory, gradients
  std::size_t evaluation = 0;  // the inference program and its batches
  std::size_t checkpoint = 0;  // what is held while one is written; 0 on ranks that write none
  std::size_t batch = 0;       // of a batch that the rank loads
};

// Batches of this rank held at once when the loader prepares `ahead` of them: these, the one that
// is being made, and the one that is trained on.
constexpr int batches_held(int ahead) noexcept { return ahead + 2; }

// The most bytes a rank holds at once. Pure.
std::size_t peak_bytes(const MemoryNeeds& needs, int lanes, int batches_ahead) noexcept;

struct MemoryFit {
  int lanes = 1;
  int batches_ahead = 1;
  std::size_t peak = 0;
};

// What of the wished lanes and batches ahead fits into `available` bytes: first all lanes with
// fewer batches ahead, then fewer lanes. Pure.
// In      `micro_batch`: samples of one, for the message
// Throws  UsageError: not even one lane fits; names what is needed, what there is, and the largest
//         --micro-batch that would fit, as far as the needs tell
MemoryFit fit_memory(const MemoryNeeds& needs, std::size_t available, int lanes, int batches_ahead,
                     std::int64_t micro_batch);

// "3.1 GB", "870 MB": powers of ten.
std::string in_bytes(std::size_t bytes);

}  // namespace winnow::train

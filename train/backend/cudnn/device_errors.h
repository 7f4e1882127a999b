#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "train/backend/cudnn/device.h"

// Problems with a machine's GPU, driver and libraries, and the message for each. They are derived
// from facts, so that tests need none of them.
namespace winnow::train::cudnn {

inline constexpr int kOldestCapability = 80;  // bf16 and tf32; see cmake/WinnowCuda.cmake

std::string cuda_version(int version);           // 13000: "13.0"
std::string cudnn_version(std::size_t version);  // 91900: "9.19.0", 8907: "8.9.7"

// Result status of a call of CUDA's runtime.
enum class CudaAnswer : std::uint8_t { kOk, kInsufficientDriver, kNoCard, kOther };

struct CardCount {
  CudaAnswer answer = CudaAnswer::kOk;
  int count = 0;
  std::string reason{};  // for kOther: CUDA's message
};

// The queries of a machine that are needed to open a GPU. None of them blocks.
class Machine {
 public:
  virtual ~Machine() = default;
  virtual int driver() = 0;               // the newest CUDA version it runs, 13000; 0: no driver
  virtual int runtime() = 0;              // the CUDA version of winnow, 13000
  virtual std::size_t cudnn_found() = 0;  // version of the library, 91900
  virtual std::size_t cudnn_built_with() = 0;  // version of its headers
  virtual CardCount count_cards() = 0;
  virtual Card card(int index) = 0;  // throws Error
};

struct FoundCard {
  int index = 0;
  Card card;
};
// Finds GPU `wanted` modulo their number, so that the ranks of a machine are distributed over its
// GPUs, however many each rank sees.
// Throws Error with one sentence if the backend cannot use it.
FoundCard find_card(Machine& machine, int wanted);

struct MemoryFacts {
  std::int64_t asked = 0, free = 0, total = 0;  // bytes
};
std::string out_of_memory(std::string_view card, const MemoryFacts& facts);
std::string out_of_host_memory(std::size_t bytes);

// A library's error text for use within a sentence: one line, at most 300 bytes.
std::string one_line(std::string_view text);
// Message for a failed call: `what` was being done, `reason` in the library's words.
std::string call_failed(std::string_view what, std::string_view reason);
// Message for a failure that a later call reports, because the GPU works asynchronously.
std::string earlier_work_failed(std::string_view what, std::string_view reason);

}  // namespace winnow::train::cudnn

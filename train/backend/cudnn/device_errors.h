#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "train/backend/cudnn/device.h"

// Finds problems with a machine's GPU, driver and libraries, and writes the message for each. Works
// on plain facts, so tests need neither GPU nor driver.
namespace winnow::train::cudnn {

// Oldest supported compute capability, times 10; see cmake/WinnowCuda.cmake. It has bf16 and tf32.
inline constexpr int kOldestCapability = 80;

std::string cuda_version(int version);  // CUDA version as text: 13000 is "13.0"
// cuDNN version as text: 91900 is "9.19.0", 8907 is "8.9.7".
std::string cudnn_version(std::size_t version);

// Result status of a call to the CUDA runtime.
enum class CudaAnswer : std::uint8_t { kOk, kInsufficientDriver, kNoCard, kOther };

struct CardCount {
  CudaAnswer answer = CudaAnswer::kOk;
  int count = 0;
  std::string reason{};  // CUDA's message, if `answer` is kOther
};

// Queries of a machine that are needed to open a GPU. None of them blocks.
class Machine {
 public:
  virtual ~Machine() = default;
  // Newest CUDA version that the driver can run, such as 13000; 0: no driver.
  virtual int driver() = 0;
  virtual int runtime() = 0;  // CUDA version of the runtime that winnow uses, such as 13000
  // Version of the cuDNN library that was loaded, such as 91900.
  virtual std::size_t cudnn_found() = 0;
  virtual std::size_t cudnn_built_with() = 0;  // version of the cuDNN headers at compile time
  virtual CardCount count_cards() = 0;
  virtual Card card(int index) = 0;  // facts about GPU `index`; throws Error
};

struct FoundCard {
  int index = 0;
  Card card;
};
// Finds the GPU with index `wanted` modulo their number, so that the ranks of a machine are
// distributed over its GPUs, however many GPUs each rank sees.
// Throws  Error with one sentence if the backend cannot use it.
FoundCard find_card(Machine& machine, int wanted);

struct MemoryFacts {
  std::int64_t asked = 0, free = 0, total = 0;  // bytes
};
std::string out_of_memory(std::string_view card, const MemoryFacts& facts);
std::string out_of_host_memory(std::size_t bytes);

// Returns a library's error text in a form that fits into a sentence: one line, at most 300 bytes.
std::string one_line(std::string_view text);
// Message for a failed library call. `what`: the attempted action. `reason`: the library's text.
std::string call_failed(std::string_view what, std::string_view reason);
// Message for an earlier failure that only a later call reports, because the GPU works
// asynchronously.
std::string earlier_work_failed(std::string_view what, std::string_view reason);

}  // namespace winnow::train::cudnn

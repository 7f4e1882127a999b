#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "train/backend/cudnn/device.h"

// What can be wrong with a machine's card, driver and libraries, and the sentence for it: decided
// here from facts, so that it is tested without any of them.
namespace winnow::train::cudnn {

inline constexpr int kOldestCapability = 80;  // bf16 and tf32; see cmake/WinnowCuda.cmake

std::string cuda_version(int version);           // 13000: "13.0"
std::string cudnn_version(std::size_t version);  // 91900: "9.19.0", 8907: "8.9.7"

// What a call of CUDA's runtime answered, apart from its result.
enum class CudaAnswer : std::uint8_t { kOk, kInsufficientDriver, kNoCard, kOther };

struct CardCount {
  CudaAnswer answer = CudaAnswer::kOk;
  int count = 0;
  std::string reason{};  // for kOther, in CUDA's words
};

// What opening a card asks the machine. Nothing of it waits for anything.
class Machine {
 public:
  virtual ~Machine() = default;
  virtual int driver() = 0;                    // the newest CUDA it runs, 13000; 0: there is none
  virtual int runtime() = 0;                   // the CUDA that winnow has, 13000
  virtual std::size_t cudnn_found() = 0;       // the library, 91900
  virtual std::size_t cudnn_built_with() = 0;  // its headers
  virtual CardCount count_cards() = 0;
  virtual Card card(int index) = 0;  // throws Error
};

struct FoundCard {
  int index = 0;
  Card card;
};
// Card `wanted` modulo their number, so that ranks of a machine take turns at its cards, however
// many of them each sees. Throws Error with one sentence where the backend cannot use it.
FoundCard find_card(Machine& machine, int wanted);

struct MemoryFacts {
  std::int64_t asked = 0, free = 0, total = 0;  // bytes
};
std::string out_of_memory(std::string_view card, const MemoryFacts& facts);
std::string out_of_host_memory(std::size_t bytes);

// What a library wrote about a failure, as part of a sentence: one line, at most 300 bytes.
std::string one_line(std::string_view text);
// A call that failed: `what` was being done, `reason` in the library's words.
std::string call_failed(std::string_view what, std::string_view reason);
// Told by a later call, because the card works on while the program goes on.
std::string earlier_work_failed(std::string_view what, std::string_view reason);

}  // namespace winnow::train::cudnn

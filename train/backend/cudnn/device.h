#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "train/backend/lower/kernel_arguments.h"
#include "train/backend/lower/layer.h"

// The seam between what a program does and the card that does it. What lies above is plain C++ and
// tested on host memory (tests/train/cudnn/host_device.h); cuda_device.cpp is the card. All of it
// throws Error with one sentence and the numbers in it; nothing here prints.
namespace winnow::train::cudnn {

namespace kernels {
struct Table;
}

// Where several things share a piece of memory, each begins at a multiple of this.
inline constexpr std::size_t kAlignment = 256;
constexpr std::size_t aligned(std::size_t bytes) noexcept {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

struct Card {
  std::string name;    // "NVIDIA H200"
  int capability = 0;  // 90: compute capability 9.0
  int multiprocessors = 0;
  std::int64_t memory_bytes = 0;
  std::string driver;   // the newest CUDA it can run: "13.0"
  std::string runtime;  // CUDA: "13.0"
  std::string cudnn;    // "9.19.0"
  std::string cublas;   // "13.1.0"
};

// Device memory, or page-locked host memory; gives itself back.
using Memory = std::unique_ptr<std::byte, std::function<void(std::byte*)>>;

// A point in a stream's work.
class Event {
 public:
  virtual ~Event() = default;
  virtual void wait() const = 0;  // blocks this thread until the work before it is done
};

// Work in order. Calls return at once; the work reads and writes later, until wait() of an event
// behind it or synchronize(). One thread at a time.
class Stream {
 public:
  virtual ~Stream() = default;
  // Between any two of device memory and page-locked host memory.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  virtual void record(Event& event) = 0;      // `event` now stands for the work given so far
  virtual void wait(const Event& event) = 0;  // what is given from now on begins after it
  virtual void synchronize() = 0;
};

// A convolution without bias. In memory activations are NHWC, filters KRSC.
struct ConvolutionDescription {
  Pass pass = Pass::kForward;
  Element type = Element::kF32;    // of both operands
  Element result = Element::kF32;  // of what is computed
  bool tf32 = false;               // f32 products may be rounded to 11 bits; sums stay f32
  bool deterministic = false;      // the same bits in every run
  ConvExtents extents;
};
// "forward bf16 n32 c64 h56 w56 k64 r3 s3 p56 q56 stride1 pad1": what plans are cached by.
std::string to_string(const ConvolutionDescription& description);

// result (m, n) = op(a) (m, k) * op(b) (k, n), all row-major, rows dense. `batch` such products:
// their matrices lie one behind the other.
struct MatmulDescription {
  std::int64_t batch = 1;
  std::int64_t m = 1, n = 1, k = 1;
  bool transpose_a = false, transpose_b = false;  // a is stored (k, m), b is stored (n, k)
  Element type = Element::kF32;
  Element result = Element::kF32;
  bool tf32 = false;
};
std::string to_string(const MatmulDescription& description);

// A product ready to run.
class Product {
 public:
  virtual ~Product() = default;
  virtual std::size_t workspace_bytes() const noexcept = 0;
  virtual std::string plan() const = 0;  // whose kernel it is, for people: "cudnn engine 46"
  // Convolutions: forward (x, w) -> y, backward data (dy, w) -> dx, filter (x, dy) -> dw.
  virtual void run(Stream& stream, const void* a, const void* b, void* result,
                   void* workspace) const = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const Card& card() const noexcept = 0;

  // Uninitialised, aligned to 256 bytes. Error telling how much was asked for, free and there.
  virtual Memory allocate(std::size_t bytes) = 0;
  virtual Memory allocate_host(std::size_t bytes) = 0;  // page-locked
  virtual std::size_t free_bytes() const = 0;  // of device memory, whoever has taken the rest
  virtual std::unique_ptr<Stream> make_stream() = 0;
  virtual std::unique_ptr<Event> make_event() = 0;

  virtual const kernels::Table& kernels() const noexcept = 0;
  // The library's; null where it has none for this description, whose place own kernels take.
  // `plan`: the Product::plan() it has to have; null: any.
  virtual std::unique_ptr<Product> make_convolution(const ConvolutionDescription& description,
                                                    const std::string* plan) = 0;
  virtual std::unique_ptr<Product> make_matmul(const MatmulDescription& description) = 0;
};

// Card `index` modulo the number of those that this process sees (CUDA_VISIBLE_DEVICES). One of
// cuda_device.cpp and no_cuda.cpp. Throws Error with one sentence when this build has no CUDA,
// there is no driver or card, it is too old, or the driver is.
std::shared_ptr<Device> open_device(int index);

}  // namespace winnow::train::cudnn

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "train/backend/lower/kernel_arguments.h"
#include "train/backend/lower/layer.h"

// The interface between a compiled program and the GPU that executes it.
// Code that uses it is plain C++, and is tested on host memory (tests/train/cudnn/host_device.h).
// cuda_device.cpp implements it for a GPU.
// Errors are Error with one sentence that includes the numbers. Nothing here prints.
namespace winnow::train::cudnn {

namespace kernels {
struct Table;
}

// Alignment, in bytes, of all pieces of memory that share one allocation.
inline constexpr std::size_t kAlignment = 256;
constexpr std::size_t aligned(std::size_t bytes) noexcept {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

struct Card {
  std::string name;    // name of the GPU, such as "NVIDIA H200"
  int capability = 0;  // 10 times the CUDA compute capability: 90 for 9.0
  int multiprocessors = 0;
  std::int64_t memory_bytes = 0;
  std::string driver;   // newest CUDA version that the driver can run, such as "13.0"
  std::string runtime;  // version of the CUDA runtime, such as "13.0"
  std::string cudnn;    // version of cuDNN, such as "9.19.0"
  std::string cublas;   // version of cuBLAS, such as "13.1.0"
};

// Owns device memory or page-locked host memory.
using Memory = std::unique_ptr<std::byte, std::function<void(std::byte*)>>;

// Marks a point in the work of a stream.
class Event {
 public:
  virtual ~Event() = default;
  virtual void wait() const = 0;  // blocks this thread until all work before the event is done
};

// Bytes that streams were asked to copy.
struct Traffic {
  std::uint64_t to_device = 0;  // bytes copied from host to device
  std::uint64_t to_host = 0;
};

// Counts the bytes copied by all streams of a device. Thread-safe.
class TrafficCounter {
 public:
  void add_to_device(std::size_t bytes) noexcept { to_device_ += bytes; }
  void add_to_host(std::size_t bytes) noexcept { to_host_ += bytes; }
  Traffic now() const noexcept { return {to_device_, to_host_}; }

 private:
  std::atomic<std::uint64_t> to_device_ = 0;
  std::atomic<std::uint64_t> to_host_ = 0;
};

// A queue of work on the GPU, executed in order.
// Calls return at once; the work reads and writes memory later. It is done after synchronize(), or
// after wait() of an event that was recorded behind it.
// Threads  One at a time.
class Stream {
 public:
  explicit Stream(std::shared_ptr<TrafficCounter> counter) : counter_(std::move(counter)) {}
  virtual ~Stream() = default;

  // Copies `bytes` bytes between device memory and page-locked host memory, in stream order.
  void copy_to_device(void* device, const void* host, std::size_t bytes);
  void copy_to_host(void* host, const void* device, std::size_t bytes);
  virtual void record(Event& event) = 0;      // makes `event` mark the end of all work given so far
  virtual void wait(const Event& event) = 0;  // work given later starts only after `event`
  virtual void synchronize() = 0;

 private:
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;

  std::shared_ptr<TrafficCounter> counter_;
};

// A convolution without bias. In memory, activations are NHWC and filters KRSC.
struct ConvolutionDescription {
  Pass pass = Pass::kForward;
  Element type = Element::kF32;    // element type of both operands
  Element result = Element::kF32;  // element type of the output
  bool tf32 = false;  // f32 factors may be rounded to tf32 (11 significant bits); sums stay f32
  bool deterministic = false;  // use only kernels with the same bits in every run
  ConvExtents extents;
};
// Returns text such as "forward bf16 n32 c64 h56 w56 k64 r3 s3 p56 q56 stride1 pad1", which is the
// key of cached plans.
std::string to_string(const ConvolutionDescription& description);

// A batch of matrix products: result (m, n) = op(a) (m, k) * op(b) (k, n), where op may transpose.
// All are row-major with dense rows; the matrices of a batch are contiguous.
struct MatmulDescription {
  std::int64_t batch = 1;
  std::int64_t m = 1, n = 1, k = 1;
  bool transpose_a = false, transpose_b = false;  // a is stored as (k, m); b is stored as (n, k)
  Element type = Element::kF32;
  Element result = Element::kF32;
  bool tf32 = false;
};
std::string to_string(const MatmulDescription& description);

// A matrix product or convolution that is ready to run.
class Product {
 public:
  virtual ~Product() = default;
  virtual std::size_t workspace_bytes() const noexcept = 0;
  // User-facing name of the kernel that computes the product, such as "cudnn engine 46".
  virtual std::string plan() const = 0;
  // Whether tensor cores compute the product, according to the library. They round f32 factors to
  // tf32.
  virtual bool uses_tensor_cores() const = 0;
  // Computes result from a and b. Convolutions: forward (x, w) -> y, backward data (dy, w) -> dx,
  // backward filter (x, dy) -> dw.
  // workspace  Scratch memory of workspace_bytes().
  virtual void run(Stream& stream, const void* a, const void* b, void* result,
                   void* workspace) const = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const Card& card() const noexcept = 0;

  // Allocates uninitialised device memory, aligned to 256 bytes. Throws Error with the amounts
  // requested, free and total.
  virtual Memory allocate(std::size_t bytes) = 0;
  virtual Memory allocate_host(std::size_t bytes) = 0;  // allocates page-locked host memory
  // Free device memory in bytes, regardless of which process uses the rest.
  virtual std::size_t free_bytes() const = 0;
  virtual Traffic traffic() const noexcept = 0;  // bytes copied by all streams so far
  virtual std::unique_ptr<Stream> make_stream() = 0;
  virtual std::unique_ptr<Event> make_event() = 0;

  virtual const kernels::Table& kernels() const noexcept = 0;
  // Makes a convolution by the GPU's library. nullptr if the library has none for this description;
  // then our own kernels must be used.
  // plan  The required Product::plan(); nullptr: any.
  virtual std::unique_ptr<Product> make_convolution(const ConvolutionDescription& description,
                                                    const std::string* plan) = 0;
  virtual std::unique_ptr<Product> make_matmul(const MatmulDescription& description) = 0;
};

// Opens the GPU with index `index` modulo the number of GPUs that this process sees
// (CUDA_VISIBLE_DEVICES). Implemented by cuda_device.cpp or no_cuda.cpp.
// Throws  Error with one sentence: this build has no CUDA; there is no driver or GPU; or either is
//         too old.
std::shared_ptr<Device> open_device(int index);

}  // namespace winnow::train::cudnn

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

// The interface between a program and the GPU that executes it. Code above it is plain C++ and is
// tested on host memory (tests/train/cudnn/host_device.h); cuda_device.cpp implements it for a GPU.
// Errors are Error with one sentence that includes the numbers. Nothing here prints.
namespace winnow::train::cudnn {

namespace kernels {
struct Table;
}

// Pieces that share one allocation are aligned to this.
inline constexpr std::size_t kAlignment = 256;
constexpr std::size_t aligned(std::size_t bytes) noexcept {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

struct Card {
  std::string name;    // "NVIDIA H200"
  int capability = 0;  // 90 for compute capability 9.0
  int multiprocessors = 0;
  std::int64_t memory_bytes = 0;
  std::string driver;   // the newest CUDA version it can run, "13.0"
  std::string runtime;  // CUDA version, "13.0"
  std::string cudnn;    // "9.19.0"
  std::string cublas;   // "13.1.0"
};

// Owns device memory or page-locked host memory.
using Memory = std::unique_ptr<std::byte, std::function<void(std::byte*)>>;

// A point in a stream's work.
class Event {
 public:
  virtual ~Event() = default;
  virtual void wait() const = 0;  // blocks this thread until the work before it is done
};

// Bytes of the copies that streams were given.
struct Traffic {
  std::uint64_t to_device = 0;  // from the host's memory
  std::uint64_t to_host = 0;
};

// Counts the copied bytes of a device and all its streams. Any thread may call it.
class TrafficCounter {
 public:
  void add_to_device(std::size_t bytes) noexcept { to_device_ += bytes; }
  void add_to_host(std::size_t bytes) noexcept { to_host_ += bytes; }
  Traffic now() const noexcept { return {to_device_, to_host_}; }

 private:
  std::atomic<std::uint64_t> to_device_ = 0;
  std::atomic<std::uint64_t> to_host_ = 0;
};

// Work that is executed in order. Calls return at once; the work reads and writes later. It is done
// after synchronize(), or after wait() of an event recorded behind it. One thread at a time.
class Stream {
 public:
  explicit Stream(std::shared_ptr<TrafficCounter> counter) : counter_(std::move(counter)) {}
  virtual ~Stream() = default;

  // Copies between device memory and page-locked host memory.
  void copy_to_device(void* device, const void* host, std::size_t bytes);
  void copy_to_host(void* host, const void* device, std::size_t bytes);
  virtual void record(Event& event) = 0;      // `event` marks the work given so far
  virtual void wait(const Event& event) = 0;  // later work starts after `event`
  virtual void synchronize() = 0;

 private:
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;

  std::shared_ptr<TrafficCounter> counter_;
};

// A convolution without bias. In memory, activations are NHWC and filters KRSC.
struct ConvolutionDescription {
  Pass pass = Pass::kForward;
  Element type = Element::kF32;    // type of both operands
  Element result = Element::kF32;  // type of the output
  bool tf32 = false;               // f32 products may be rounded to 11 bits; sums stay f32
  bool deterministic = false;      // the same bits in every run
  ConvExtents extents;
};
// Text such as "forward bf16 n32 c64 h56 w56 k64 r3 s3 p56 q56 stride1 pad1", the key of cached
// plans.
std::string to_string(const ConvolutionDescription& description);

// result (m, n) = op(a) (m, k) * op(b) (k, n), all row-major with dense rows. `batch` such
// products, with contiguous matrices.
struct MatmulDescription {
  std::int64_t batch = 1;
  std::int64_t m = 1, n = 1, k = 1;
  bool transpose_a = false, transpose_b = false;  // a is stored (k, m), b is stored (n, k)
  Element type = Element::kF32;
  Element result = Element::kF32;
  bool tf32 = false;
};
std::string to_string(const MatmulDescription& description);

// A product that is ready to run.
class Product {
 public:
  virtual ~Product() = default;
  virtual std::size_t workspace_bytes() const noexcept = 0;
  virtual std::string plan() const = 0;  // name of its kernel, for users: "cudnn engine 46"
  // True: according to the library, tensor cores compute it. They round f32 factors to tf32.
  virtual bool uses_tensor_cores() const = 0;
  // Convolutions: forward (x, w) -> y, backward data (dy, w) -> dx, filter (x, dy) -> dw.
  virtual void run(Stream& stream, const void* a, const void* b, void* result,
                   void* workspace) const = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const Card& card() const noexcept = 0;

  // Uninitialised, aligned to 256 bytes. Error with the amounts requested, free and total.
  virtual Memory allocate(std::size_t bytes) = 0;
  virtual Memory allocate_host(std::size_t bytes) = 0;  // page-locked
  virtual std::size_t free_bytes() const = 0;           // free device memory, whoever uses the rest
  virtual Traffic traffic() const noexcept = 0;         // total of all streams so far
  virtual std::unique_ptr<Stream> make_stream() = 0;
  virtual std::unique_ptr<Event> make_event() = 0;

  virtual const kernels::Table& kernels() const noexcept = 0;
  // The library's product; nullptr if it has none for this description, and our own kernels must be
  // used. `plan`: the required Product::plan(); nullptr: any.
  virtual std::unique_ptr<Product> make_convolution(const ConvolutionDescription& description,
                                                    const std::string* plan) = 0;
  virtual std::unique_ptr<Product> make_matmul(const MatmulDescription& description) = 0;
};

// Opens GPU `index` modulo the number of GPUs that this process sees (CUDA_VISIBLE_DEVICES).
// Implemented by cuda_device.cpp or no_cuda.cpp.
// Throws Error with one sentence if this build has no CUDA, if there is no driver or GPU, or if
// either is too old.
std::shared_ptr<Device> open_device(int index);

}  // namespace winnow::train::cudnn

#include <cublasLt.h>
#include <cudnn_graph.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "common/error.h"
#include "train/backend/cudnn/cublas_matmul_internal.h"
#include "train/backend/cudnn/cuda_internal.h"
#include "train/backend/cudnn/cudnn_convolution_internal.h"
#include "train/backend/cudnn/device_errors.h"

namespace winnow::train::cudnn {
namespace {

std::string words_of(cudaError_t status) {
  return std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")";
}

// After one of these errors the process's work on the GPU is lost, whichever call reports it.
bool is_lost(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

class CudaMachine final : public Machine {
 public:
  int driver() override {
    int version = 0;
    return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
  }
  int runtime() override { return CUDART_VERSION; }
  std::size_t cudnn_found() override { return cudnnGetVersion(); }
  std::size_t cudnn_built_with() override { return CUDNN_VERSION; }
  CardCount count_cards() override;
  Card card(int index) override;
};

CardCount CudaMachine::count_cards() {
  CardCount cards;
  const cudaError_t status = cudaGetDeviceCount(&cards.count);
  switch (status) {
    case cudaSuccess:
      return cards;
    case cudaErrorInsufficientDriver:
      return {.answer = CudaAnswer::kInsufficientDriver};
    case cudaErrorNoDevice:
      return {.answer = CudaAnswer::kNoCard};
    default:
      return {.answer = CudaAnswer::kOther, .reason = words_of(status)};
  }
}

Card CudaMachine::card(int index) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "ask for the card's properties");
  return {.name = properties.name,
          .capability = properties.major * 10 + properties.minor,
          .multiprocessors = properties.multiProcessorCount,
          .memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem),
          .driver = cuda_version(driver()),
          .runtime = cuda_version(runtime()),
          .cudnn = cudnn_version(cudnn_found()),
          .cublas = cublas_version()};
}

class CudaDevice final : public Device {
 public:
  CudaDevice(int index, Card card)
      : index_(made_current(index)), card_(std::move(card)), convolutions_(card_) {}

  const Card& card() const noexcept override { return card_; }
  Memory allocate(std::size_t bytes) override;
  Memory allocate_host(std::size_t bytes) override;
  std::size_t free_bytes() const override { return memory().free; }
  Traffic traffic() const noexcept override { return traffic_->now(); }
  std::unique_ptr<Stream> make_stream() override {
    return std::make_unique<CudaStream>(index_, traffic_);
  }
  std::unique_ptr<Event> make_event() override { return std::make_unique<CudaEvent>(index_); }
  const kernels::Table& kernels() const noexcept override { return kernels::cuda_kernels(); }
  std::unique_ptr<Product> make_convolution(const ConvolutionDescription& d,
                                            const std::string* plan) override {
    return made([&] { return convolutions_.make(d, plan); });
  }
  std::unique_ptr<Product> make_matmul(const MatmulDescription& d) override {
    return made([&] { return matmuls_.make(d); });
  }

 private:
  struct MemoryNow {
    std::size_t free = 0;
    std::size_t total = 0;
  };

  static int made_current(int index) {
    check(cudaSetDevice(index), "use the card");
    return index;
  }
  // A library's failed attempt may leave an error behind, which the next launch would report.
  template <class Make>
  std::unique_ptr<Product> made(Make make) const {
    made_current(index_);
    std::unique_ptr<Product> product = make();
    cudaGetLastError();
    return product;
  }
  MemoryNow memory() const {
    made_current(index_);
    MemoryNow now;
    check(cudaMemGetInfo(&now.free, &now.total), "ask for the card's free memory");
    return now;
  }

  int index_;
  Card card_;
  std::shared_ptr<TrafficCounter> traffic_ = std::make_shared<TrafficCounter>();
  Convolutions convolutions_;
  Matmuls matmuls_;
};

Memory CudaDevice::allocate(std::size_t bytes) {
  made_current(index_);
  void* data = nullptr;
  const cudaError_t status = cudaMalloc(&data, std::max<std::size_t>(bytes, 1));
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // otherwise the next launch would report it again
    const MemoryNow now = memory();
    throw Error(out_of_memory(card_.name, {.asked = static_cast<std::int64_t>(bytes),
                                           .free = static_cast<std::int64_t>(now.free),
                                           .total = static_cast<std::int64_t>(now.total)}));
  }
  check(status, "allocate memory on the card");
  return Memory(static_cast<std::byte*>(data), [](std::byte* p) { cudaFree(p); });
}

Memory CudaDevice::allocate_host(std::size_t bytes) {
  made_current(index_);
  void* data = nullptr;
  const cudaError_t status = cudaMallocHost(&data, std::max<std::size_t>(bytes, 1));
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw Error(out_of_host_memory(bytes));
  }
  check(status, "allocate page-locked memory");
  return Memory(static_cast<std::byte*>(data), [](std::byte* p) { cudaFreeHost(p); });
}

}  // namespace

void check(cudaError_t status, std::string_view what) {
  if (status == cudaSuccess) return;
  const std::string words = words_of(status);
  throw Error(is_lost(status) ? earlier_work_failed(what, words) : call_failed(what, words));
}

CudaEvent::CudaEvent(int device) {
  check(cudaSetDevice(device), "use the card");
  check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "make an event");
}
CudaEvent::~CudaEvent() { cudaEventDestroy(event_); }
void CudaEvent::wait() const { check(cudaEventSynchronize(event_), "wait for the card"); }

CudaStream::CudaStream(int device, std::shared_ptr<TrafficCounter> counter)
    : Stream(std::move(counter)), device_(device) {
  check(cudaSetDevice(device), "use the card");
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "make a stream");
}
CudaStream::~CudaStream() { cudaStreamDestroy(stream_); }

cudaStream_t CudaStream::native() const {
  check(cudaSetDevice(device_), "use the card");
  return stream_;
}

void CudaStream::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, native()), "copy to or from the card");
}
void CudaStream::record(Event& event) {
  check(cudaEventRecord(static_cast<CudaEvent&>(event).native(), native()), "record an event");
}
void CudaStream::wait(const Event& event) {
  check(cudaStreamWaitEvent(native(), static_cast<const CudaEvent&>(event).native()),
        "order two streams");
}
void CudaStream::synchronize() { check(cudaStreamSynchronize(native()), "wait for the card"); }

std::shared_ptr<Device> open_device(int index) {
  CudaMachine machine;
  FoundCard found = find_card(machine, index);
  return std::make_shared<CudaDevice>(found.index, std::move(found.card));
}

}  // namespace winnow::train::cudnn
